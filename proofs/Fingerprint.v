(** How often two arrays have one fingerprint.

    What is proved:
    - [zeros_bound]: of all weights below a prime p, data that is not 0 modulo p everywhere has the form 0
      for D in p of them at most, D being the number of digits;
    - [collisions_bound]: so have two arrays of numbers below p one form that differ at one coordinate;
    - [digits_bound]: indices of extents that multiply to less than 2^63 have at most r + 18.6 digits
      together for r dims, cut at the bits of the Rust crate: 26 for 8 dims, 50 for 32;
    - [fingerprint_bound]: with two more digits for limbs of 32 bits, two arrays of up to 8 dims agree for
      less than 1 in 2^56 of all weights, those of up to 32 dims for less than 1 in 2^55.

    Not here: that weights drawn by SipHash are as good as all weights, which is an assumption.

    Rust: crates/tilewright-fingerprint/src/weights.rs, field.rs, lib.rs. *)

From Coq Require Import ZArith Znumtheory List Lia Bool.
From Tilewright Require Import Form Prime.
Import ListNotations.
Open Scope Z_scope.

Local Arguments Z.add : simpl never.
Local Arguments Z.mul : simpl never.
Local Arguments Z.of_nat : simpl never.

(** ** How often data that is not 0 has the form 0 *)

Definition count {A} (f : A -> bool) (l : list A) : Z := Z.of_nat (length (filter f l)).

Lemma count_app : forall {A} (f : A -> bool) a b, count f (a ++ b) = count f a + count f b.
Proof. intros. unfold count. rewrite filter_app, app_length. lia. Qed.

Lemma count_flat : forall {A B} (f : B -> bool) (g : A -> list B) l,
  count f (flat_map g l) = total (map (fun a => count f (g a)) l).
Proof. induction l; simpl; [reflexivity | rewrite count_app, IHl; reflexivity]. Qed.

Lemma count_map : forall {A B} (f : B -> bool) (g : A -> B) l,
  count f (map g l) = count (fun a => f (g a)) l.
Proof.
  unfold count. induction l; simpl; auto. destruct (f (g a)); simpl; lia.
Qed.

Lemma count_bounds : forall {A} (f : A -> bool) l, 0 <= count f l <= Z.of_nat (length l).
Proof.
  unfold count. induction l; simpl; [lia|]. destruct (f a); simpl; lia.
Qed.

Lemma count_none : forall {A} (f : A -> bool) l, (forall a, In a l -> f a = false) -> count f l = 0.
Proof.
  unfold count. induction l; simpl; intros H; auto. rewrite (H a) by auto. auto.
Qed.

Lemma count_same : forall {A} (f g : A -> bool) l,
  (forall a, In a l -> f a = g a) -> count f l = count g l.
Proof.
  unfold count. induction l; simpl; intros H; auto.
  rewrite (H a) by auto. assert (E := IHl (fun b I => H b (or_intror I))).
  destruct (g a); simpl; lia.
Qed.

Lemma count_once : forall {A} (f : A -> bool) l,
  NoDup l -> (forall a b, In a l -> In b l -> f a = true -> f b = true -> a = b) -> count f l <= 1.
Proof.
  intros A f l N. unfold count. induction N as [|a l O N IH]; intros H; [simpl; lia|]. simpl.
  destruct (f a) eqn:F.
  - simpl. assert (E : count f l = 0); [|unfold count in E; lia].
    apply count_none. intros b I. destruct (f b) eqn:G; auto. exfalso. apply O.
    rewrite (H a b); simpl; auto.
  - apply IH. intros. apply H; simpl; auto.
Qed.

Lemma small_multiple : forall p k a, - p < a < p -> a = k * p -> a = 0.
Proof. intros p k a B E. assert (k = 0) by nia. subst. reflexivity. Qed.

Section Zeros.

Variable p : Z.
Hypothesis is_prime : prime p.

Let above : 1 < p.
Proof. destruct is_prime; auto. Qed.

(** All weights: every number below p for each. *)
Definition values : list Z := map Z.of_nat (seq 0 (Z.to_nat p)).

Fixpoint vectors (n : nat) : list (list Z) :=
  match n with
  | O => [[]]
  | S n' => flat_map (fun t => map (cons t) (vectors n')) values
  end.

Fixpoint assignments (ks : list nat) : list (list (list Z)) :=
  match ks with
  | [] => [[]]
  | k :: ks' => flat_map (fun ws => map (fun w => w :: ws) (vectors (k - 1))) (assignments ks')
  end.

Lemma in_values : forall t, In t values <-> 0 <= t < p.
Proof.
  intros t. unfold values. rewrite in_map_iff. split.
  - intros (k & <- & K). apply in_seq in K. lia.
  - intros T. exists (Z.to_nat t). split; [lia|]. apply in_seq. lia.
Qed.

Lemma values_once : NoDup values.
Proof. apply FinFun.Injective_map_NoDup; [intros a b E; lia | apply seq_NoDup]. Qed.

Lemma values_count : Z.of_nat (length values) = p.
Proof. unfold values. rewrite map_length, seq_length. lia. Qed.

Lemma length_flat : forall {A B} (g : A -> list B) n l,
  (forall a, length (g a) = n) -> length (flat_map g l) = (length l * n)%nat.
Proof. induction l; intros H; simpl; auto. rewrite app_length, IHl, H; auto. Qed.

Lemma vectors_count : forall n, Z.of_nat (length (vectors (S n))) = p * Z.of_nat (length (vectors n)).
Proof.
  intros n. cbn [vectors]. rewrite (length_flat _ (length (vectors n))).
  - rewrite Nat2Z.inj_mul, values_count. lia.
  - intros. apply map_length.
Qed.

Lemma vectors_length : forall n w, In w (vectors n) -> length w = n.
Proof.
  induction n as [|n IH]; simpl; intros w W.
  - destruct W as [<-|[]]. reflexivity.
  - apply in_flat_map in W. destruct W as (t & _ & W). apply in_map_iff in W.
    destruct W as (w' & <- & W). simpl. rewrite IH; auto.
Qed.

Lemma assignments_weigh : forall ks ws,
  Forall (fun k => (1 <= k)%nat) ks -> In ws (assignments ks) -> weighs ks ws.
Proof.
  intros ks ws H. revert ws. induction H as [|k ks K H IH]; simpl; intros ws W.
  - destruct W as [<-|[]]. constructor.
  - apply in_flat_map in W. destruct W as (ws' & W' & W). apply in_map_iff in W.
    destruct W as (w & <- & W). apply vectors_length in W.
    constructor; [lia|]. apply IH; auto.
Qed.

Definition zero (z : Z) : bool := z mod p =? 0.

Lemma zero_true : forall z, zero z = true <-> (p | z).
Proof. intros. unfold zero. rewrite Z.eqb_eq. apply Z.mod_divide. lia. Qed.

Lemma zero_false : forall z, zero z = false <-> ~ (p | z).
Proof. intros. rewrite <- zero_true. destruct (zero z); split; congruence. Qed.

(** A sum of weights times numbers, and a number. *)
Fixpoint affine (b : Z) (qs w : list Z) : Z :=
  match qs, w with
  | q :: qs', t :: w' => affine (b + t * q) qs' w'
  | _, _ => b
  end.

Lemma affine_dots : forall qs w b, affine b qs w = b + dots w qs.
Proof. induction qs as [|q qs IH]; intros [|t w] b; simpl; try lia. rewrite IH. lia. Qed.

Lemma affine_constant : forall qs w b,
  ~ Exists (fun q => ~ (p | q)) qs -> zero (affine b qs w) = zero b.
Proof.
  induction qs as [|q qs IH]; intros [|t w] b N; simpl; auto.
  rewrite IH by (intros E; apply N; right; auto).
  assert (D : (p | q)).
  { destruct (Zdivide_dec p q); auto. exfalso. apply N. left. auto. }
  destruct D as (k & K). unfold zero. rewrite K.
  replace (b + t * (k * p)) with (b + t * k * p) by lia. rewrite Z_mod_plus_full. reflexivity.
Qed.

Lemma total_bound : forall {A} (l : list A) (f : A -> Z) n,
  (forall a, In a l -> f a <= n) -> total (map f l) <= Z.of_nat (length l) * n.
Proof.
  induction l as [|a l IH]; intros f n H; simpl; [lia|].
  assert (f a <= n) by (apply H; simpl; auto).
  assert (total (map f l) <= Z.of_nat (length l) * n) by (apply IH; intros; apply H; simpl; auto).
  nia.
Qed.

Lemma total_where : forall {A} (f : A -> bool) (g : A -> Z) n l,
  (forall a, In a l -> f a = false -> g a = 0) -> (forall a, In a l -> g a <= n) -> 0 <= n ->
  total (map g l) <= count f l * n.
Proof.
  intros A f g n l. induction l as [|a l IH]; intros F G N; [simpl; unfold count; simpl; lia|].
  assert (I : total (map g l) <= count f l * n).
  { apply IH; auto; intros; [apply F | apply G]; simpl; auto. }
  simpl. change (a :: l) with ([a] ++ l). rewrite count_app.
  assert (G' := G a (or_introl eq_refl)). unfold count at 1. simpl.
  destruct (f a) eqn:E; simpl; [|rewrite (F a) by (simpl; auto)]; lia.
Qed.

Lemma total_either : forall {A} (f : A -> bool) (g : A -> Z) m n l,
  (forall a, g a <= if f a then m else n) -> 0 <= n ->
  total (map g l) <= count f l * m + Z.of_nat (length l) * n.
Proof.
  intros A f g m n l H N. induction l as [|a l IH]; [unfold count; simpl; lia|].
  change (a :: l) with ([a] ++ l) at 2. rewrite count_app.
  specialize (H a). unfold count at 1. simpl. destruct (f a); simpl; lia.
Qed.

Lemma affine_bound : forall qs b,
  ~ (p | b) \/ Exists (fun q => ~ (p | q)) qs ->
  p * count (fun w => zero (affine b qs w)) (vectors (length qs))
    <= Z.of_nat (length (vectors (length qs))).
Proof.
  induction qs as [|q qs IH]; intros b H.
  - destruct H as [H|H]; [|inversion H]. unfold count. simpl.
    apply zero_false in H. rewrite H. simpl. lia.
  - cbn [length]. rewrite vectors_count. cbn [vectors]. rewrite count_flat.
    apply Z.mul_le_mono_nonneg_l; [lia|].
    set (v := Z.of_nat (length (vectors (length qs)))).
    assert (L : forall q, {(fun q => ~ (p | q)) q} + {~ (fun q => ~ (p | q)) q}).
    { intros z. destruct (Zdivide_dec p z); [right | left]; tauto. }
    destruct (Exists_dec _ qs L) as [E|E].
    + assert (B : total (map (fun t => p * count (fun w => zero (affine b (q :: qs) w))
          (map (cons t) (vectors (length qs)))) values) <= Z.of_nat (length values) * v).
      { apply total_bound. intros t T. rewrite count_map. cbn [affine]. apply IH. auto. }
      rewrite total_scale, values_count in B. nia.
    + assert (C : count (fun t => zero (b + t * q)) values <= 1).
      { apply count_once; [apply values_once|]. intros s t S T ZS ZT.
        apply in_values in S. apply in_values in T. apply zero_true in ZS. apply zero_true in ZT.
        assert (D : (p | (s - t) * q)).
        { replace ((s - t) * q) with (b + s * q - (b + t * q)) by lia. apply Z.divide_sub_r; auto. }
        apply prime_mult in D; auto. destruct D as [(k & D)|D]; [pose proof (small_multiple p k (s - t)); lia|]. exfalso.
        destruct H as [H|H].
        - apply H. replace b with (b + s * q - s * q) by lia.
          apply Z.divide_sub_r; auto. apply Z.divide_mul_r; auto.
        - inversion H; tauto. }
      assert (T : total (map (fun t => count (fun w => zero (affine b (q :: qs) w))
          (map (cons t) (vectors (length qs)))) values)
        <= count (fun t => zero (b + t * q)) values * v).
      { apply total_where.
        - intros t _ F. rewrite count_map. apply count_none. intros w _. cbn [affine].
          rewrite affine_constant; auto.
        - intros t _. rewrite count_map. apply count_bounds.
        - unfold v. lia. }
      assert (0 <= v) by (unfold v; lia). nia.
Qed.

(** A coordinate: a value for each digit. *)
Definition within (ks c : list nat) := Forall2 (fun v k => (v < k)%nat) c ks.

Theorem zeros_bound : forall ks x c,
  within ks c -> ~ (p | x c) ->
  p * count (fun ws => zero (form ks ws x)) (assignments ks)
    <= Z.of_nat (length ks) * Z.of_nat (length (assignments ks)).
Proof.
  intros ks x c H. revert x. induction H as [|v k c ks V H IH]; intros x N.
  - apply zero_false in N. unfold count. simpl. rewrite N. simpl. lia.
  - cbn [assignments]. rewrite count_flat.
    set (n := (k - 1)%nat).
    assert (K : k = S n) by (unfold n; lia).
    set (part := fun ws u => form ks ws (fun c => x (u :: c))).
    set (size := Z.of_nat (length (vectors n))).
    assert (A : length (flat_map (fun ws => map (fun w => w :: ws) (vectors n)) (assignments ks))
                = (length (assignments ks) * length (vectors n))%nat).
    { apply length_flat. intros. apply map_length. }
    rewrite A, Nat2Z.inj_mul. fold size.
    specialize (IH (fun c => x (v :: c)) N).
    set (bad := fun ws => zero (part ws v)).
    change (p * count bad (assignments ks)
      <= Z.of_nat (length ks) * Z.of_nat (length (assignments ks))) in IH.
    assert (G : forall ws,
      p * count (fun ws => zero (form (k :: ks) ws x)) (map (fun w => w :: ws) (vectors n))
      <= if bad ws then p * size else size).
    { intros ws. rewrite count_map. destruct (bad ws) eqn:B.
      - apply Z.mul_le_mono_nonneg_l; [lia|]. apply count_bounds.
      - apply zero_false in B.
        set (qs := map (part ws) (seq 1 n)).
        assert (Q : length qs = n) by (unfold qs; rewrite map_length, seq_length; auto).
        rewrite (count_same _ (fun w => zero (affine (part ws 0%nat) qs w))).
        + unfold size. rewrite <- Q. apply affine_bound. destruct v as [|v].
          * left. auto.
          * right. apply Exists_exists. exists (part ws (S v)). split; auto.
            apply in_map, in_seq. lia.
        + intros w _. cbn [form]. rewrite K, affine_dots. cbn [seq map dots].
          fold (part ws). fold qs. rewrite Z.mul_1_l. reflexivity. }
    assert (S0 : 0 <= size) by (unfold size; lia).
    assert (T : p * total (map (fun ws => count (fun ws => zero (form (k :: ks) ws x))
        (map (fun w => w :: ws) (vectors n))) (assignments ks))
      <= count bad (assignments ks) * (p * size) + Z.of_nat (length (assignments ks)) * size).
    { rewrite <- total_scale. apply total_either; auto. }
    assert (0 <= count bad (assignments ks)) by apply count_bounds.
    cbn [length]. rewrite Nat2Z.inj_succ. nia.
Qed.

(** Two arrays of numbers below p. *)
Theorem collisions_bound : forall ks x y c,
  within ks c -> x c <> y c -> (forall d, 0 <= x d < p) -> (forall d, 0 <= y d < p) ->
  p * count (fun ws => form ks ws x mod p =? form ks ws y mod p) (assignments ks)
    <= Z.of_nat (length ks) * Z.of_nat (length (assignments ks)).
Proof.
  intros ks x y c H N X Y.
  rewrite (count_same _ (fun ws => zero (form ks ws (fun d => 1 * x d + -1 * y d)))).
  - apply (zeros_bound ks _ c); auto. intros (k & K). specialize (X c). specialize (Y c).
    pose proof (small_multiple p k (x c - y c)). lia.
  - intros ws _. rewrite form_linear.
    replace (1 * form ks ws x + -1 * form ks ws y) with (form ks ws x - form ks ws y) by lia.
    apply eq_true_iff_eq. rewrite zero_true, Z.eqb_eq. symmetry. split.
    + intros D. apply Z.mod_divide in D; [|lia].
      rewrite <- (Z.sub_add (form ks ws y) (form ks ws x)) at 1.
      rewrite Zplus_mod, D, Z.add_0_l, Zmod_mod. reflexivity.
    + intros E. apply Z.mod_divide; [lia|]. rewrite Zminus_mod, E, Z.sub_diag. apply Zmod_0_l.
Qed.

Lemma assignments_some : forall ks, 0 < Z.of_nat (length (assignments ks)).
Proof.
  assert (V : forall n, (0 < length (vectors n))%nat).
  { induction n as [|n IH]; [simpl; lia|]. pose proof (vectors_count n). nia. }
  induction ks as [|k ks IH]; [simpl; lia|]. cbn [assignments].
  rewrite (length_flat _ (length (vectors (k - 1)))) by (intros; apply map_length).
  specialize (V (k - 1)%nat). nia.
Qed.

End Zeros.

(** ** The number of digits *)

(** The bits at which digits begin. *)
Definition cuts : list Z := [0; 4; 7; 10; 14; 18; 22; 26; 30; 34; 38; 42; 46; 50; 54; 58; 62].

(** The digits of the indices of a dim of [n]. *)
Definition needed (n : Z) : Z := count (fun c => 2 ^ c <=? n - 1) cuts.

Definition all_needed (ns : list Z) : Z := total (map needed ns).

Lemma needed_bound : forall n, 1 <= n < 2 ^ 63 -> 10 * needed n <= 10 + 3 * Z.log2 n.
Proof.
  intros n N.
  assert (B : 0 <= Z.log2 n < 63).
  { split; [apply Z.log2_nonneg | apply Z.log2_lt_pow2; lia]. }
  assert (M : needed n <= count (fun c => c <=? Z.log2 n) cuts).
  { assert (I : forall c, In c cuts -> 0 <= c).
    { intros c C. repeat (destruct C as [<-|C]; [lia|]). destruct C. }
    unfold needed, count. induction cuts as [|c l IH]; [simpl; lia|]. simpl.
    assert (IH' := IH (fun d D => I d (or_intror D))).
    destruct (Z.leb_spec (2 ^ c) (n - 1)) as [L|L]; destruct (Z.leb_spec c (Z.log2 n)) as [K|K];
      simpl; try lia.
    exfalso. assert (c <= Z.log2 n); [|lia]. apply Z.log2_le_pow2; lia. }
  assert (F : forall k, (k < 63)%nat ->
    10 * count (fun c => c <=? Z.of_nat k) cuts <= 10 + 3 * Z.of_nat k).
  { assert (A : forallb (fun k => 10 * count (fun c => c <=? Z.of_nat k) cuts <=? 10 + 3 * Z.of_nat k)
      (seq 0 63) = true) by (vm_compute; reflexivity).
    rewrite forallb_forall in A. intros k K. apply Z.leb_le, A, in_seq. lia. }
  specialize (F (Z.to_nat (Z.log2 n)) ltac:(lia)). rewrite Z2Nat.id in F by lia. lia.
Qed.

Lemma product_positive : forall ns, Forall (fun n => 1 <= n) ns -> 1 <= fold_right Z.mul 1 ns.
Proof. induction 1; simpl; nia. Qed.

Theorem digits_bound : forall ns,
  Forall (fun n => 1 <= n) ns -> fold_right Z.mul 1 ns < 2 ^ 63 ->
  10 * all_needed ns <= 10 * Z.of_nat (length ns) + 186.
Proof.
  intros ns P L.
  assert (S : 10 * all_needed ns <= 10 * Z.of_nat (length ns) + 3 * Z.log2 (fold_right Z.mul 1 ns)).
  { induction P as [|n ns N P IH]; [simpl; unfold all_needed; simpl; lia|].
    cbn [fold_right] in *. assert (Q := product_positive _ P).
    specialize (IH ltac:(nia)).
    assert (B := needed_bound n ltac:(nia)).
    assert (M := Z.log2_mul_below n (fold_right Z.mul 1 ns) ltac:(lia) ltac:(lia)).
    unfold all_needed in *. cbn [map total fold_right length]. fold (total (map needed ns)). lia. }
  assert (Z.log2 (fold_right Z.mul 1 ns) < 63); [|lia].
  assert (Q := product_positive _ P). apply Z.log2_lt_pow2; lia.
Qed.

(** [ks] holds the digits of dims of [ns] and at most two of limbs, [x] and [y] are limbs of 32 bits. *)
Theorem fingerprint_bound : forall ns ks x y c,
  Forall (fun n => 1 <= n) ns -> fold_right Z.mul 1 ns < 2 ^ 63 ->
  Z.of_nat (length ks) <= all_needed ns + 2 ->
  within ks c -> x c <> y c ->
  (forall d, 0 <= x d < 2 ^ 32) -> (forall d, 0 <= y d < 2 ^ 32) ->
  let agree := count (fun ws => form ks ws x mod field =? form ks ws y mod field)
    (assignments field ks) in
  let all := Z.of_nat (length (assignments field ks)) in
  ((length ns <= 8)%nat -> 2 ^ 56 * agree < all) /\
  ((length ns <= 32)%nat -> 2 ^ 55 * agree < all).
Proof.
  intros ns ks x y c P L K W N X Y agree all.
  assert (D := digits_bound ns P L).
  assert (F : 2 ^ 32 < field) by (unfold field; lia).
  assert (B := collisions_bound field field_is_prime ks x y c W N).
  fold agree all in B. specialize (B ltac:(intros d; specialize (X d); lia)).
  specialize (B ltac:(intros d; specialize (Y d); lia)).
  assert (A := assignments_some field field_is_prime ks). fold all in A.
  assert (G : 0 <= agree) by apply count_bounds.
  unfold field in B. split; intros R; nia.
Qed.
