(** 2^61 - 1 is prime: what the fingerprint is a field of.

    What is proved:
    - [lucas]: p is prime if some a has a^(p-1) = 1 modulo p, while for every prime r of p - 1 the number
      a^((p-1)/r) - 1 has no divisor in common with p;
    - [field_is_prime]: 2^61 - 1 is such a p, by a = 37 and the primes of 2^61 - 2.

    Rust: crates/tilewright-fingerprint/src/field.rs. *)

From Coq Require Import ZArith Znumtheory Zpow_facts List Lia.
Import ListNotations.
Open Scope Z_scope.

(** ** Powers modulo a number *)

Lemma pow_mod_same : forall q a b n, 0 <= n -> a mod q = b mod q -> a ^ n mod q = b ^ n mod q.
Proof.
  intros q a b n N E. pattern n. apply natlike_ind; [reflexivity | | auto].
  intros x X IH. rewrite !Z.pow_succ_r by auto.
  rewrite Zmult_mod, E, IH, <- Zmult_mod. reflexivity.
Qed.

(** Exponents at which a power is 1 modulo q: differences stay among them. *)
Definition one_at (q a n : Z) := a ^ n mod q = 1 mod q.

Lemma one_at_mul : forall q a n k, 0 <= n -> 0 <= k -> one_at q a n -> one_at q a (n * k).
Proof.
  unfold one_at. intros q a n k N K H. rewrite Z.pow_mul_r by auto.
  rewrite (pow_mod_same q _ 1 k K H), Z.pow_1_l by auto. reflexivity.
Qed.

Lemma one_at_sub : forall q a m n,
  0 <= m -> 0 <= n -> one_at q a (m + n) -> one_at q a n -> one_at q a m.
Proof.
  unfold one_at. intros q a m n M N H G. rewrite Z.pow_add_r in H by auto.
  rewrite Zmult_mod, G, <- Zmult_mod, Z.mul_1_r in H. auto.
Qed.

(** Their greatest common divisor is one of them. *)
Lemma one_at_gcd : forall q a m n, 0 <= m -> 0 <= n ->
  one_at q a m -> one_at q a n -> one_at q a (Z.gcd m n).
Proof.
  intros q a m n M N H G.
  remember (Z.to_nat n) as k eqn:K. revert m n M N H G K.
  induction k as [k IH] using lt_wf_ind. intros m n M N H G K.
  destruct (Z.eq_dec n 0) as [->|Z]; [rewrite Z.gcd_0_r, Z.abs_eq by auto; auto|].
  assert (B := Z.mod_pos_bound m n ltac:(lia)).
  rewrite Z.gcd_comm, <- Z.gcd_mod, Z.gcd_comm by auto.
  apply (IH (Z.to_nat (m mod n))); auto; try lia.
  assert (E := Z.div_mod m n Z).
  apply (one_at_sub _ _ _ (n * (m / n))); try lia.
  - apply Z.mul_nonneg_nonneg; auto. apply Z.div_pos; lia.
  - replace (m mod n + n * (m / n)) with m by lia. auto.
  - apply one_at_mul; auto. apply Z.div_pos; lia.
Qed.

(** ** Primes *)

Lemma prime_product : forall r rs, prime r -> (r | fold_right Z.mul 1 rs) -> exists s, In s rs /\ (r | s).
Proof.
  intros r rs P. induction rs as [|s rs IH]; simpl; intros D.
  - destruct P. apply Z.divide_1_r in D. lia.
  - apply prime_mult in D; auto. destruct D as [D|D]; [exists s; auto|].
    destruct (IH D) as (t & T & E). exists t. auto.
Qed.

(** Every number above 1 has a divisor that is prime. *)
Lemma prime_divisor : forall n, 1 < n -> exists q, prime q /\ (q | n).
Proof.
  intros n N. assert (L : 2 <= n) by lia. clear N. revert n L.
  apply (Zlt_lower_bound_ind (fun n => exists q, prime q /\ (q | n))).
  intros n IH N. destruct (prime_dec n) as [P|P].
  - exists n. split; auto. apply Z.divide_refl.
  - destruct (not_prime_divide n ltac:(lia) P) as (m & M & D).
    destruct (IH m ltac:(lia)) as (q & Q & E).
    exists q. split; auto. eapply Z.divide_trans; eauto.
Qed.

(** ** The certificate *)

Section Lucas.

Variables (p a : Z) (rs : list Z).
Hypothesis above : 1 < p.
Hypothesis factors : fold_right Z.mul 1 rs = p - 1.
Hypothesis primes : Forall prime rs.
Hypothesis whole : Zpow_mod a (p - 1) p = 1.
Hypothesis apart : Forall (fun r => Z.gcd (Zpow_mod a ((p - 1) / r) p - 1) p = 1) rs.

Variable q : Z.
Hypothesis divisor : prime q.
Hypothesis divides : (q | p).

Let big : 1 < q.
Proof. destruct divisor; auto. Qed.

Lemma modulo_divisor : forall x y, x mod p = y mod p -> x mod q = y mod q.
Proof.
  intros x y E. destruct divides as (k & K).
  apply (f_equal (fun z => z mod q)) in E.
  assert (P : q <> 0) by lia.
  rewrite K, (Z.mul_comm k) in E.
  rewrite !Z.rem_mul_r in E by (try lia; nia).
  rewrite !(Z.mul_comm q), !Z_mod_plus_full, !Zmod_mod in E. auto.
Qed.

Lemma whole_at : one_at q a (p - 1).
Proof.
  unfold one_at. apply modulo_divisor. rewrite <- Zpow_mod_correct by lia.
  rewrite whole. symmetry. apply Z.mod_small. lia.
Qed.

(** No smaller exponent gives 1. *)
Lemma order : forall k, 0 < k < p - 1 -> ~ one_at q a k.
Proof.
  intros k K H.
  assert (G := one_at_gcd q a k (p - 1) ltac:(lia) ltac:(lia) H whole_at).
  set (g := Z.gcd k (p - 1)) in *.
  destruct (Z.gcd_divide_r k (p - 1)) as (h & E). fold g in E.
  assert (Gp : 0 <= g) by apply Z.gcd_nonneg.
  assert (Gk : g <= k) by (apply Z.divide_pos_le; [lia | apply Z.gcd_divide_l]).
  assert (H1 : 1 < h) by nia.
  destruct (prime_divisor h H1) as (r & R & (h' & D)).
  destruct (prime_product r rs R) as (s & S & T).
  { rewrite factors. exists (h' * g). nia. }
  rewrite Forall_forall in primes, apart.
  assert (r = s) by (apply prime_div_prime; auto). subst s.
  assert (R2 : 1 < r) by (destruct R; auto).
  assert (Q : (p - 1) / r = g * h').
  { rewrite E, D. replace (h' * r * g) with (g * h' * r) by lia. apply Z.div_mul. lia. }
  specialize (apart r S).
  assert (X : one_at q a ((p - 1) / r)) by (rewrite Q; apply one_at_mul; auto; nia).
  unfold one_at in X.
  assert (Y : (q | Zpow_mod a ((p - 1) / r) p - 1)).
  { apply Z.mod_divide; [lia|]. rewrite Zminus_mod.
    rewrite Zpow_mod_correct by lia.
    assert (M : (a ^ ((p - 1) / r) mod p) mod q = a ^ ((p - 1) / r) mod q).
    { apply modulo_divisor. apply Zmod_mod. }
    rewrite M, X, Z.sub_diag. apply Zmod_0_l. }
  assert (Z1 : (q | 1)) by (rewrite <- apart; apply Z.gcd_greatest; auto).
  apply Z.divide_1_r in Z1. lia.
Qed.

(** So the powers below p - 1 differ modulo q, and none is 0: they do not fit below a smaller q. *)
Lemma powers_differ : forall i j, 0 <= i < j -> j < p - 1 -> a ^ i mod q <> a ^ j mod q.
Proof.
  intros i j I J E. apply (order (i + (p - 1 - j))); [lia|].
  unfold one_at. rewrite Z.pow_add_r by lia.
  rewrite Zmult_mod, E, <- Zmult_mod, <- Z.pow_add_r by lia.
  replace (j + (p - 1 - j)) with (p - 1) by lia. apply whole_at.
Qed.

Lemma powers_positive : forall i, 0 <= i < p - 1 -> a ^ i mod q <> 0.
Proof.
  intros i I E. assert (W := whole_at). unfold one_at in W.
  replace (p - 1) with (i + (p - 1 - i)) in W by lia.
  rewrite Z.pow_add_r, Zmult_mod, E, Z.mul_0_l, Zmod_0_l, Z.mod_small in W by lia. lia.
Qed.

Lemma divisor_large : p <= q.
Proof.
  set (f := fun i => Z.to_nat (a ^ Z.of_nat i mod q)).
  set (n := Z.to_nat (p - 1)).
  assert (L : (length (map f (seq 0 n)) <= length (seq 1 (Z.to_nat (q - 1))))%nat).
  { apply NoDup_incl_length.
    - apply (NoDup_nth _ (f 0%nat)). rewrite map_length, seq_length. intros i j I J E.
      rewrite !map_nth, !seq_nth in E by auto. simpl in E. unfold f in E.
      apply Z2Nat.inj in E; [|apply Z.mod_pos_bound; lia..].
      destruct (Nat.lt_trichotomy i j) as [G|[G|G]]; auto; exfalso.
      + apply (powers_differ (Z.of_nat i) (Z.of_nat j)); auto; lia.
      + apply (powers_differ (Z.of_nat j) (Z.of_nat i)); auto; lia.
    - intros x X. apply in_map_iff in X. destruct X as (i & <- & I). apply in_seq in I.
      apply in_seq. unfold f.
      pose proof (Z.mod_pos_bound (a ^ Z.of_nat i) q ltac:(lia)).
      pose proof (powers_positive (Z.of_nat i) ltac:(lia)). lia. }
  rewrite map_length, !seq_length in L. lia.
Qed.

End Lucas.

Theorem lucas : forall p a rs,
  1 < p -> fold_right Z.mul 1 rs = p - 1 -> Forall prime rs ->
  Zpow_mod a (p - 1) p = 1 ->
  Forall (fun r => Z.gcd (Zpow_mod a ((p - 1) / r) p - 1) p = 1) rs -> prime p.
Proof.
  intros p a rs B F P W A. destruct (prime_divisor p B) as (q & Q & D).
  assert (L := divisor_large p a rs B F P W A q Q D).
  assert (q <= p) by (apply Z.divide_pos_le; auto; lia).
  replace p with q by lia. auto.
Qed.

(** ** The field *)

Definition small (r : Z) : bool :=
  (1 <? r) && forallb (fun k => Z.gcd (Z.of_nat k) r =? 1) (seq 1 (Z.to_nat (r - 1))).

Lemma small_prime : forall r, small r = true -> prime r.
Proof.
  intros r H. apply andb_prop in H. destruct H as (H & K). apply Z.ltb_lt in H.
  constructor; auto. intros n N. apply Zgcd_1_rel_prime.
  rewrite forallb_forall in K. specialize (K (Z.to_nat n)).
  rewrite Z2Nat.id in K by lia. apply Z.eqb_eq, K, in_seq. lia.
Qed.

Definition field : Z := 2 ^ 61 - 1.

Definition factors_of_order : list Z := [2; 3; 3; 5; 5; 7; 11; 13; 31; 41; 61; 151; 331; 1321].

Theorem field_is_prime : prime field.
Proof.
  apply (lucas field 37 factors_of_order).
  - reflexivity.
  - vm_compute. reflexivity.
  - apply Forall_forall. intros r R. apply small_prime.
    assert (A : forallb small factors_of_order = true) by (vm_compute; reflexivity).
    rewrite forallb_forall in A. auto.
  - vm_compute. reflexivity.
  - apply Forall_forall. intros r R. apply Z.eqb_eq.
    assert (A : forallb (fun r => Z.gcd (Zpow_mod 37 ((field - 1) / r) field - 1) field =? 1)
      factors_of_order = true) by (vm_compute; reflexivity).
    rewrite forallb_forall in A. apply (A r R).
Qed.
