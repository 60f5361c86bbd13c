(** Exchanges of address bits, and the weave of them.

    An address within a unit is a number of [n] bits: the low ones say the place inside a register, the
    others the register. An exchange swaps two bits of the address.

    What is proved:
    - [swap_bits]: an exchange of bits i and j reads bit i at j and bit j at i, and no other changes;
    - [swap_involutive], [swap_range]: it is its own inverse, and stays below 2^n where i and j do;
    - [pairs_swap]: done to pairs of registers that differ in one bit of their index, as the kernels do
      it, an exchange moves the element at each address to the address with the two bits swapped;
    - [weave_bijective], [weave_moves_once]: any list of exchanges moves every address below 2^n to
      exactly one, and each is moved to once;
    - [weave_bits], [weave_known]: it permutes bits, and so is known by where each single bit goes;
    - [reads_crossed], [crossing_splits]: exchanges of the bits that leave a register with those that enter
      it, one each, leave only bits inside registers, and registers, to be rearranged among themselves;
    - [blocks_cover]: blocks of one shape, of which the last begins early, cover every turn of a loop and
      none outside.

    Not here: how Rust pairs the bits, its table of bytes within a register, and loops that run backward.

    Rust: crates/tilewright-relayout/src/cpu/transpose/permutation.rs, blocks.rs, kernel/exchange.rs. *)

From Coq Require Import ZArith List Lia Bool Permutation.
Import ListNotations.
Open Scope Z_scope.

(** Bits [i] and [j] of [a] swapped. *)
Definition swap (i j a : Z) : Z :=
  if Bool.eqb (Z.testbit a i) (Z.testbit a j) then a else Z.lxor a (Z.lxor (2 ^ i) (2 ^ j)).

(** Where a swap reads bit [k]. *)
Definition partner (i j k : Z) : Z := if k =? i then j else if k =? j then i else k.

Lemma bit_of_power : forall i k, 0 <= i -> Z.testbit (2 ^ i) k = (k =? i).
Proof. intros i k I. rewrite Z.pow2_bits_eqb by auto. apply Z.eqb_sym. Qed.

Theorem swap_bits : forall i j a k,
  0 <= i -> 0 <= j -> Z.testbit (swap i j a) k = Z.testbit a (partner i j k).
Proof.
  intros i j a k I J. unfold swap, partner.
  destruct (Bool.eqb _ _) eqn:E.
  - apply eqb_prop in E. destruct (Z.eqb_spec k i); [subst; auto|].
    destruct (Z.eqb_spec k j); [subst; auto | reflexivity].
  - apply eqb_false_iff in E. rewrite !Z.lxor_spec, !bit_of_power by auto.
    destruct (Z.eqb_spec k i) as [Ki|Ki]; destruct (Z.eqb_spec k j) as [Kj|Kj].
    + exfalso. apply E. congruence.
    + rewrite Ki. destruct (Z.testbit a i), (Z.testbit a j); simpl; congruence.
    + rewrite Kj. destruct (Z.testbit a i), (Z.testbit a j); simpl; congruence.
    + destruct (Z.testbit a k); reflexivity.
Qed.

Lemma partner_involutive : forall i j k, partner i j (partner i j k) = k.
Proof.
  intros i j k. unfold partner.
  destruct (Z.eqb_spec k i) as [Ki|Ki]; [|destruct (Z.eqb_spec k j) as [Kj|Kj]].
  - rewrite Z.eqb_refl. destruct (Z.eqb_spec j i); congruence.
  - rewrite Z.eqb_refl. congruence.
  - destruct (Z.eqb_spec k i); [contradiction|]. destruct (Z.eqb_spec k j); [contradiction | reflexivity].
Qed.

Theorem swap_involutive : forall i j a, 0 <= i -> 0 <= j -> swap i j (swap i j a) = a.
Proof.
  intros i j a I J. apply Z.bits_inj'. intros k K.
  rewrite !swap_bits, partner_involutive by auto. reflexivity.
Qed.

(** A number below 2^n has no bit from n on. *)
Lemma below_bits : forall n a, 0 <= n ->
  (0 <= a < 2 ^ n <-> 0 <= a /\ forall k, n <= k -> Z.testbit a k = false).
Proof.
  intros n a N. split.
  - intros (L & H). split; auto. intros k K. destruct (Z.eq_dec a 0) as [->|Z]; [apply Z.bits_0|].
    apply Z.bits_above_log2; auto. apply Z.log2_lt_pow2; try lia.
    apply Z.lt_le_trans with (2 ^ n); auto. apply Z.pow_le_mono_r; lia.
  - intros (L & H). split; auto. destruct (Z_lt_dec a (2 ^ n)) as [|G]; auto. exfalso.
    assert (P : 0 < 2 ^ n) by (apply Z.pow_pos_nonneg; lia).
    assert (T : n <= Z.log2 a) by (apply Z.log2_le_pow2; lia).
    specialize (H _ T). rewrite Z.bit_log2 in H by lia. discriminate.
Qed.

Theorem swap_range : forall n i j a,
  0 <= i < n -> 0 <= j < n -> 0 <= a < 2 ^ n -> 0 <= swap i j a < 2 ^ n.
Proof.
  intros n i j a I J A. apply below_bits in A; [|lia]. destruct A as (A & H).
  apply below_bits; [lia|]. split.
  - unfold swap. destruct (Bool.eqb _ _); auto.
    apply Z.lxor_nonneg. assert (0 <= Z.lxor (2 ^ i) (2 ^ j)); [|tauto].
    apply Z.lxor_nonneg. pose proof (Z.pow_nonneg 2 i). pose proof (Z.pow_nonneg 2 j). lia.
  - intros k K. rewrite swap_bits by lia. apply H. unfold partner.
    destruct (Z.eqb_spec k i); [lia|]. destruct (Z.eqb_spec k j); lia.
Qed.

(** ** Pairs of registers

    Registers of 2^w elements: address x + 2^w * r is element x of register r. The kernel takes registers
    r and r + 2^s, which differ in bit s of their index, and exchanges at level l: the upper half of each
    group of 2^(l+1) elements of the first with the lower half of the second. *)
Definition exchanged (w s l : Z) (held : Z -> Z -> Z) (r x : Z) : Z :=
  match Z.testbit r s, Z.testbit x l with
  | false, true => held (r + 2 ^ s) (x - 2 ^ l)
  | true, false => held (r - 2 ^ s) (x + 2 ^ l)
  | _, _ => held r x
  end.

Lemma address_low : forall w r x k, 0 <= x < 2 ^ w -> 0 <= k < w ->
  Z.testbit (x + 2 ^ w * r) k = Z.testbit x k.
Proof.
  intros w r x k X K. rewrite <- (Z.mod_pow2_bits_low _ w) by lia.
  f_equal. symmetry. apply (Z.mod_unique_pos _ _ r); lia.
Qed.

Lemma address_high : forall w r x k, 0 <= x < 2 ^ w -> 0 <= w -> 0 <= k ->
  Z.testbit (x + 2 ^ w * r) (w + k) = Z.testbit r k.
Proof.
  intros w r x k X W K.
  replace (w + k) with (k + w) by lia. rewrite <- Z.div_pow2_bits by lia.
  f_equal. symmetry. apply (Z.div_unique_pos _ _ _ x); lia.
Qed.

Lemma bit_set : forall a k, 0 <= k -> Z.testbit a k = false -> a + 2 ^ k = Z.lxor a (2 ^ k).
Proof.
  intros a k K B. apply Z.add_nocarry_lxor. apply Z.bits_inj'. intros j J.
  rewrite Z.land_spec, bit_of_power, Z.bits_0 by auto.
  destruct (Z.eqb_spec j k); [subst; rewrite B|]; auto using andb_false_r.
Qed.

Lemma bit_clear : forall a k, 0 <= k -> Z.testbit a k = true -> a - 2 ^ k = Z.lxor a (2 ^ k).
Proof.
  intros a k K B. set (b := Z.lxor a (2 ^ k)).
  assert (C : Z.testbit b k = false).
  { unfold b. rewrite Z.lxor_spec, bit_of_power, Z.eqb_refl, B by auto. reflexivity. }
  apply bit_set in C; auto. unfold b in C.
  rewrite Z.lxor_assoc, Z.lxor_nilpotent, Z.lxor_0_r in C. fold b in C. lia.
Qed.

Lemma shifted_power : forall w s, 0 <= w -> 0 <= s -> 2 ^ (w + s) = 2 ^ w * 2 ^ s.
Proof. intros. apply Z.pow_add_r; auto. Qed.

(** What register r holds at x afterwards is what was at the address with bits l and w + s swapped. *)
Theorem pairs_swap : forall w s l (memory : Z -> Z) r x,
  0 <= s -> 0 <= l < w -> 0 <= x < 2 ^ w ->
  exchanged w s l (fun r x => memory (x + 2 ^ w * r)) r x
  = memory (swap l (w + s) (x + 2 ^ w * r)).
Proof.
  intros w s l memory r x S L X. unfold exchanged, swap.
  rewrite address_low, address_high by lia.
  assert (P : 2 ^ (w + s) = 2 ^ w * 2 ^ s) by (apply shifted_power; lia).
  assert (BL : Z.testbit (x + 2 ^ w * r) l = Z.testbit x l) by (apply address_low; lia).
  assert (BH : Z.testbit (x + 2 ^ w * r) (w + s) = Z.testbit r s) by (apply address_high; lia).
  destruct (Z.testbit r s) eqn:R; destruct (Z.testbit x l) eqn:B; simpl; auto; f_equal.
  - rewrite (Z.lxor_comm (2 ^ l)), <- Z.lxor_assoc, <- (bit_clear _ (w + s)) by (auto; lia).
    rewrite <- bit_set; [lia | lia |].
    rewrite bit_clear, Z.lxor_spec, BL, bit_of_power by (auto; lia).
    destruct (Z.eqb_spec l (w + s)); [lia | reflexivity].
  - rewrite <- Z.lxor_assoc, <- (bit_clear _ l) by (auto; lia).
    rewrite <- bit_set; [lia | lia |].
    rewrite bit_clear, Z.lxor_spec, BH, bit_of_power by (auto; lia).
    destruct (Z.eqb_spec (w + s) l); [lia | reflexivity].
Qed.

(** ** A weave *)

(** A list of exchanges, the first done first. *)
Fixpoint weave (es : list (Z * Z)) (a : Z) : Z :=
  match es with
  | [] => a
  | (i, j) :: more => weave more (swap i j a)
  end.

Definition legal (n : Z) (es : list (Z * Z)) :=
  Forall (fun e => 0 <= fst e < n /\ 0 <= snd e < n) es.

Lemma weave_app : forall a b x, weave (a ++ b) x = weave b (weave a x).
Proof. induction a as [|[i j] a IH]; intros; simpl; auto. Qed.

Lemma weave_range : forall n es a, legal n es -> 0 <= a < 2 ^ n -> 0 <= weave es a < 2 ^ n.
Proof.
  intros n es a H. revert a. induction H as [|[i j] es (I & J) H IH]; intros a A; simpl in *; auto.
  apply IH. apply swap_range; auto.
Qed.

Lemma legal_rev : forall n es, legal n es -> legal n (rev es).
Proof. intros. apply Forall_rev. auto. Qed.

Lemma weave_undone : forall n es a, legal n es -> weave (rev es) (weave es a) = a.
Proof.
  intros n es a H. revert a. induction H as [|[i j] es (I & J) H IH]; intros a; simpl in *; auto.
  rewrite weave_app, IH. simpl. apply swap_involutive; lia.
Qed.

Theorem weave_bijective : forall n es b,
  legal n es -> 0 <= b < 2 ^ n ->
  exists a, 0 <= a < 2 ^ n /\ weave es a = b /\ forall a', weave es a' = b -> a' = a.
Proof.
  intros n es b H B. exists (weave (rev es) b). repeat split.
  - apply (weave_range n); auto. apply legal_rev; auto.
  - apply (weave_range n); auto. apply legal_rev; auto.
  - pose proof (weave_undone n (rev es) b (legal_rev _ _ H)) as E. rewrite rev_involutive in E. auto.
  - intros a' E. rewrite <- E. symmetry. apply (weave_undone n); auto.
Qed.

(** All addresses below 2^n, in order. *)
Definition addresses (n : Z) : list Z := map Z.of_nat (seq 0 (Z.to_nat (2 ^ n))).

Lemma in_addresses : forall n a, In a (addresses n) <-> 0 <= a < 2 ^ n.
Proof.
  intros n a. unfold addresses. rewrite in_map_iff. split.
  - intros (k & <- & K). apply in_seq in K. lia.
  - intros A. exists (Z.to_nat a). split; [lia|]. apply in_seq. lia.
Qed.

Lemma addresses_once : forall n, NoDup (addresses n).
Proof.
  intros n. apply FinFun.Injective_map_NoDup; [intros a b E; lia | apply seq_NoDup].
Qed.

(** What is written is every address, each once. *)
Theorem weave_moves_once : forall n es,
  legal n es -> Permutation (addresses n) (map (weave es) (addresses n)).
Proof.
  intros n es H. apply NoDup_Permutation.
  - apply addresses_once.
  - apply FinFun.Injective_map_NoDup; [|apply addresses_once].
    intros a b E. rewrite <- (weave_undone n es a), <- (weave_undone n es b), E by auto. reflexivity.
  - intros b. rewrite in_map_iff, in_addresses. split.
    + intros B. destruct (weave_bijective n es b H B) as (a & A & E & _).
      exists a. rewrite in_addresses. auto.
    + intros (a & <- & A). apply (weave_range n); auto. apply in_addresses. auto.
Qed.

(** Where a weave reads each bit. *)
Fixpoint reads (es : list (Z * Z)) (k : Z) : Z :=
  match es with
  | [] => k
  | (i, j) :: more => partner i j (reads more k)
  end.

Theorem weave_bits : forall n es a k,
  legal n es -> Z.testbit (weave es a) k = Z.testbit a (reads es k).
Proof.
  intros n es a k H. revert a. induction H as [|[i j] es (I & J) H IH]; intros a; simpl in *; auto.
  rewrite IH, swap_bits by lia. reflexivity.
Qed.

(** Two weaves that read the same bits are one movement. *)
Theorem weave_known : forall n es es' a,
  legal n es -> legal n es' -> (forall k, 0 <= k < n -> reads es k = reads es' k) ->
  0 <= a < 2 ^ n -> weave es a = weave es' a.
Proof.
  intros n es es' a H H' R A.
  assert (N : 0 <= n) by (destruct (Z_lt_dec n 0); [rewrite Z.pow_neg_r in A by auto; lia | lia]).
  assert (B := weave_range _ _ _ H A). assert (B' := weave_range _ _ _ H' A).
  apply below_bits in B; auto. apply below_bits in B'; auto.
  apply Z.bits_inj'. intros k K. destruct (Z_lt_dec k n) as [L|G].
  - rewrite (weave_bits n es), (weave_bits n es') by auto. rewrite R; auto.
  - rewrite (proj2 B), (proj2 B') by lia. reflexivity.
Qed.

(** ** Which exchanges

    Bits below [w] are inside a register. Each exchange is of a bit inside with one outside, and no two
    have a bit in common. *)
Definition crosses (w : Z) (es : list (Z * Z)) :=
  Forall (fun e => 0 <= fst e < w /\ w <= snd e) es /\
  NoDup (map fst es) /\ NoDup (map snd es).

Lemma reads_other : forall es k,
  ~ In k (map fst es) -> ~ In k (map snd es) -> reads es k = k.
Proof.
  induction es as [|[i j] es IH]; intros k F S; simpl in *; auto.
  rewrite IH by tauto. unfold partner.
  destruct (Z.eqb_spec k i); [exfalso; apply F; auto|].
  destruct (Z.eqb_spec k j); [exfalso; apply S; auto | reflexivity].
Qed.

(** Exchanges that share no bit each swap their own two, in any order. *)
Theorem reads_crossed : forall w es i j,
  crosses w es -> In (i, j) es -> reads es i = j /\ reads es j = i.
Proof.
  intros w es i j (F & N & M). induction es as [|[a b] es IH]; intros I; [destruct I|].
  inversion F as [|x l (A & B) F' E]; subst x l. simpl in N, M. inversion_clear N as [|? ? NA N'].
  inversion_clear M as [|? ? MB M']. simpl in A, B.
  assert (In_fst : forall x y, In (x, y) es -> In x (map fst es)).
  { intros x y H. apply (in_map fst) in H. exact H. }
  assert (In_snd : forall x y, In (x, y) es -> In y (map snd es)).
  { intros x y H. apply (in_map snd) in H. exact H. }
  assert (Low : forall x, In x (map fst es) -> x < w).
  { intros x H. apply in_map_iff in H. destruct H as (e & <- & H).
    rewrite Forall_forall in F'. destruct (F' e H). lia. }
  assert (High : forall x, In x (map snd es) -> w <= x).
  { intros x H. apply in_map_iff in H. destruct H as (e & <- & H).
    rewrite Forall_forall in F'. destruct (F' e H). lia. }
  simpl. destruct I as [I|I].
  - inversion I; subst a b.
    rewrite !reads_other; auto; try (intros H; apply Low in H; lia);
      try (intros H; apply High in H; lia).
    unfold partner. rewrite !Z.eqb_refl. split; auto. destruct (Z.eqb_spec j i); lia.
  - destruct (IH F' N' M' I) as (X & Y). rewrite X, Y.
    assert (i <> a) by (intros ->; apply NA; eauto).
    assert (j <> b) by (intros ->; apply MB; eauto).
    assert (i < w) by eauto. assert (w <= j) by eauto.
    unfold partner.
    destruct (Z.eqb_spec j a); [lia|]. destruct (Z.eqb_spec j b); [lia|].
    destruct (Z.eqb_spec i a); [lia|]. destruct (Z.eqb_spec i b); [lia|]. auto.
Qed.

(** [want] says where each bit of a destination address is read in the source. Where the bits that leave a register are exchanged with those that enter it, what is left to do
    rearranges bits inside registers, and registers among themselves. *)
Theorem crossing_splits : forall n w want es,
  (forall i j, 0 <= i < n -> 0 <= j < n -> want i = want j -> i = j) ->
  (forall i, 0 <= i < n -> 0 <= want i) ->
  0 <= w <= n ->
  crosses w es ->
  (forall b, In b (map fst es) <-> 0 <= b < w /\ forall i, 0 <= i < w -> want i <> b) ->
  (forall b, In b (map snd es) <-> w <= b /\ exists i, 0 <= i < w /\ want i = b) ->
  forall i, 0 <= i < n ->
    reads es (reads es (want i)) = want i /\ (i < w <-> reads es (want i) < w).
Proof.
  intros n w want es Inj Range W C F S i I.
  assert (Pair : forall x, In x (map fst es) -> exists y, w <= y /\ reads es x = y /\ reads es y = x).
  { intros x X. apply in_map_iff in X. destruct X as ((a & y) & E & X). simpl in E. subst a.
    destruct (reads_crossed w es x y C X) as (A & B). exists y. repeat split; auto.
    apply S. apply (in_map snd) in X. exact X. }
  assert (Riap : forall y, In y (map snd es) -> exists x, x < w /\ reads es x = y /\ reads es y = x).
  { intros y Y. apply in_map_iff in Y. destruct Y as ((x & b) & E & Y). simpl in E. subst b.
    destruct (reads_crossed w es x y C Y) as (A & B). exists x. repeat split; auto.
    apply F. apply (in_map fst) in Y. exact Y. }
  destruct (in_dec Z.eq_dec (want i) (map fst es)) as [A|A].
  - destruct (Pair _ A) as (y & Y & R & R'). rewrite R, R'. split; auto.
    apply F in A. destruct A as (A & N). split; intros H; [|lia].
    exfalso. apply (N i); auto. lia.
  - destruct (in_dec Z.eq_dec (want i) (map snd es)) as [B|B].
    + destruct (Riap _ B) as (x & X & R & R'). rewrite R', R. split; auto.
      apply S in B. destruct B as (B & j & J & E).
      assert (j = i) by (apply Inj; auto; lia). lia.
    + rewrite (reads_other es (want i)), (reads_other es (want i)) by auto. split; auto.
      split; intros H.
      * destruct (Z_lt_dec (want i) w) as [|G]; auto. exfalso. apply B, S. split; [lia|].
        exists i. split; auto. lia.
      * destruct (Z_lt_dec i w) as [|G]; auto. exfalso. apply A, F. split; [split; auto|].
        intros j J E. assert (j = i) by (apply Inj; auto; lia). lia.
Qed.

(** ** Blocks

    The block of turn [i] begins at min(i * shape, extent - shape). *)
Definition block (shape extent i : Z) : Z := Z.min (i * shape) (extent - shape).

Theorem blocks_cover : forall shape extent,
  1 <= shape <= extent ->
  let count := (extent + shape - 1) / shape in
  (forall x, 0 <= x < extent -> exists i, 0 <= i < count /\
    block shape extent i <= x < block shape extent i + shape) /\
  (forall i, 0 <= i < count ->
    0 <= block shape extent i /\ block shape extent i + shape <= extent).
Proof.
  intros shape extent S count. unfold block.
  assert (C := Z.div_mod (extent + shape - 1) shape ltac:(lia)). fold count in C.
  assert (D := Z.mod_pos_bound (extent + shape - 1) shape ltac:(lia)).
  split; [|intros i I; nia].
  intros x X. exists (x / shape).
  assert (Q := Z.div_mod x shape ltac:(lia)). assert (R := Z.mod_pos_bound x shape ltac:(lia)).
  split; [|nia]. split; [apply Z.div_pos; lia | nia].
Qed.
