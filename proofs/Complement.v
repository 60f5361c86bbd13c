(** Complement: what a layout leaves uncovered.

    L has its repeats (stride 0) dropped, its strides are taken by size and sorted. It has a complement
    if it is a chain then: each stride at least extent times stride of the mode before it.

    What is proved, for a chain, any n and any least number of coordinates:
    - [complement_injective]: no two coordinates of (L, complement) share an offset;
    - [complement_reaches]: no further step of the largest stride begins below n;
    - [complement_fills]: where each of these products divides the next stride, L and the complement
      together reach every offset from the smallest of L on, up to n of them and more, and each is
      reached once;
    - [complement_ascends]: the strides of the complement ascend;
    - [complement_count]: the complement has as many coordinates as asked for, and never an extent of 0.

    Not here: that whatever has copies that cover 0, 1, 2, ... without overlap is a chain of divisors.
    Gap.v has what is left uncovered where a product does not divide.

    Rust: crates/tilewright-core/src/algebra/complement.rs. *)

From Coq Require Import ZArith List Lia Bool Permutation Sorted.
From Tilewright Require Import Layout Coalesce.
Import ListNotations.
Open Scope Z_scope.

(** Each stride is at least what the modes before it reach with one step more; [current] is that for
    the first. *)
Fixpoint chain (current : Z) (ms : modes) : Prop :=
  match ms with
  | [] => True
  | m :: rest => current <= stride m /\ chain (stride m * extent m) rest
  end.

(** And divides it. *)
Fixpoint divides_chain (current : Z) (ms : modes) : Prop :=
  match ms with
  | [] => True
  | m :: rest => (current | stride m) /\ divides_chain (stride m * extent m) rest
  end.

(** Where the last mode of a chain would begin again. *)
Fixpoint top (current : Z) (ms : modes) : Z :=
  match ms with
  | [] => current
  | m :: rest => top (stride m * extent m) rest
  end.

(** What lies between the modes of a chain, and [k] repetitions of all. *)
Fixpoint gaps (current k : Z) (ms : modes) : modes :=
  match ms with
  | [] => [Mode k current]
  | m :: rest => Mode (stride m / current) current :: gaps (stride m * extent m) k rest
  end.

(** The same without the repetitions. *)
Fixpoint between (current : Z) (ms : modes) : modes :=
  match ms with
  | [] => []
  | m :: rest => Mode (stride m / current) current :: between (stride m * extent m) rest
  end.

(** A quotient, rounded up. *)
Definition up (a b : Z) : Z := (a + b - 1) / b.

Definition repetitions (ms : modes) (n count : Z) : Z :=
  Z.max 1 (Z.max (up n (top 1 ms)) (up count (size (between 1 ms)))).

(** The complement of a chain over [n] offsets, with [count] coordinates at least. *)
Definition complement (ms : modes) (n count : Z) : modes := coalesce (gaps 1 (repetitions ms n count) ms).

(** ** Chains *)

Lemma chain_apart : forall ms current c d,
  1 <= current -> chain current ms -> inside ms c -> inside ms d ->
  c <> d -> current <= Z.abs (dot ms c - dot ms d).
Proof.
  induction ms as [|m ms IH]; intros current c d B H C D N.
  - inversion C. inversion D. congruence.
  - destruct (inside_cons_inv _ _ _ C) as (x & r & -> & X & R).
    destruct (inside_cons_inv _ _ _ D) as (y & s & -> & Y & S).
    destruct H as (H & H'). simpl.
    destruct (list_eq_dec Z.eq_dec r s) as [E|E].
    + subst s. assert (x <> y) by congruence.
      assert (1 <= Z.abs (x - y)) by lia.
      replace (x * stride m + dot ms r - (y * stride m + dot ms r)) with ((x - y) * stride m) by lia.
      rewrite Z.abs_mul, (Z.abs_eq (stride m)) by lia. nia.
    + assert (A := IH (stride m * extent m) r s ltac:(nia) H' R S E).
      assert (Z.abs (x - y) <= extent m - 1) by lia.
      assert (Z.abs ((x - y) * stride m) <= (extent m - 1) * stride m).
      { rewrite Z.abs_mul, (Z.abs_eq (stride m)) by lia. nia. }
      lia.
Qed.

Lemma chain_injective : forall ms current, 1 <= current -> chain current ms -> injective ms.
Proof.
  intros ms current B H c d C D E.
  destruct (list_eq_dec Z.eq_dec c d) as [|N]; auto. exfalso.
  pose proof (chain_apart ms current c d B H C D N). lia.
Qed.

(** A chain with its gaps filled. *)
Fixpoint filled (current k : Z) (ms : modes) : modes :=
  match ms with
  | [] => [Mode k current]
  | m :: rest => Mode (stride m / current) current :: m :: filled (stride m * extent m) k rest
  end.

Lemma filled_parts : forall ms current k, Permutation (filled current k ms) (ms ++ gaps current k ms).
Proof.
  induction ms as [|m ms IH]; intros current k; simpl; [reflexivity|].
  rewrite IH. apply (Permutation_trans (perm_swap _ _ _)), perm_skip, Permutation_middle.
Qed.

Lemma filled_chain : forall ms current k,
  1 <= current -> positive ms -> chain current ms -> chain current (filled current k ms).
Proof.
  induction ms as [|m ms IH]; intros current k B P H; simpl; [lia|].
  inversion_clear P as [|? ? M Q]. destruct H as (H & H').
  split; [lia|]. split; [apply Z.mul_div_le; lia|]. apply IH; auto. nia.
Qed.

Lemma gaps_positive : forall ms current k,
  1 <= current -> 1 <= k -> positive ms -> chain current ms -> positive (gaps current k ms).
Proof.
  induction ms as [|m ms IH]; intros current k B K P H; simpl; constructor; simpl; auto.
  - apply Z.div_le_lower_bound; destruct H; lia.
  - inversion_clear P. destruct H. apply IH; auto. nia.
Qed.

Lemma filled_positive : forall ms current k,
  1 <= current -> 1 <= k -> positive ms -> chain current ms -> positive (filled current k ms).
Proof.
  intros. eapply Permutation_Forall; [symmetry; apply filled_parts|].
  apply positive_app. split; auto. apply gaps_positive; auto.
Qed.

Lemma top_positive : forall ms current,
  1 <= current -> positive ms -> chain current ms -> 1 <= top current ms.
Proof.
  induction ms as [|m ms IH]; intros current B P H; simpl; auto.
  inversion_clear P. destruct H. apply IH; auto. nia.
Qed.

Lemma gaps_between : forall ms current k, size (gaps current k ms) = size (between current ms) * k.
Proof. induction ms; intros; simpl; [|rewrite IHms]; lia. Qed.

Lemma between_positive : forall ms current,
  1 <= current -> positive ms -> chain current ms -> positive (between current ms).
Proof.
  induction ms as [|m ms IH]; intros current B P H; simpl; constructor; simpl; destruct H.
  - apply Z.div_le_lower_bound; lia.
  - inversion_clear P. apply IH; auto. nia.
Qed.

Lemma up_covers : forall a b k, 1 <= b -> up a b <= k -> a <= b * k.
Proof.
  intros a b k B H. unfold up in H.
  pose proof (Z.div_mod (a + b - 1) b ltac:(lia)).
  pose proof (Z.mod_pos_bound (a + b - 1) b ltac:(lia)). nia.
Qed.

(** ** Two lists of modes of one map *)

Lemma rearranged_same_map : forall a b, positive a -> positive b -> same_map a b -> rearranged a b 0.
Proof.
  intros a b PA PB (S & V).
  exists (fun c => digits b (index a c)), (fun c => digits a (index b c)). split; intros c C.
  - pose proof (index_range _ _ C).
    split; [apply digits_inside; auto; lia|]. split.
    + rewrite <- value_digits by (auto; lia). rewrite <- V, value_index by auto. lia.
    + rewrite index_digits, digits_index by (auto; lia). reflexivity.
  - pose proof (index_range _ _ C).
    split; [apply digits_inside; auto; lia|].
    rewrite index_digits, digits_index by (auto; lia). reflexivity.
Qed.

Lemma positive_nonnegative : forall ms, positive ms -> Forall (fun m => 0 <= extent m) ms.
Proof. intros ms H. eapply Forall_impl; [|exact H]. simpl; intros; lia. Qed.

Lemma coalesce_positive : forall ms, positive ms -> positive (coalesce ms).
Proof.
  intros ms P. unfold coalesce, coalesce_with.
  destruct (existsb _ ms) eqn:E.
  - exfalso. apply zero_extent in E. apply size_positive in P. lia.
  - pose proof (reduced_positive _ (merge_reduced ms P)).
    destruct (merge false ms); auto. repeat constructor. simpl. lia.
Qed.

Lemma rearranged_coalesce : forall ms, positive ms -> rearranged (coalesce ms) ms 0.
Proof.
  intros ms P. apply rearranged_same_map; auto using coalesce_positive.
  assert (N := positive_nonnegative _ P). split.
  - apply coalesce_size; auto.
  - rewrite coalesce_size by auto. intros. apply coalesce_value; auto.
Qed.

(** ** From a layout to its chain *)

Definition moves (m : mode) : bool := negb (stride m =? 0).
Definition moves_twice (m : mode) : bool := (1 <? extent m) && moves m.

(** [ms] is the modes of [l] that move, strides by size, in any order. *)
Definition sorted_form (l ms : modes) := Permutation (map by_size (filter moves_twice l)) ms.

Lemma filter_positive : forall f l, positive l -> positive (filter f l).
Proof.
  intros f l P. induction P; simpl; [constructor|]. destruct (f x); auto. constructor; auto.
Qed.

Lemma rearranged_moving : forall l,
  positive l -> rearranged (filter moves l) (filter moves_twice l) 0.
Proof.
  induction 1 as [|m l M P IH]; simpl; [apply rearranged_same|].
  unfold moves_twice at 1. destruct (moves m); rewrite ?andb_false_r, ?andb_true_r; auto.
  destruct (1 <? extent m) eqn:E; [apply rearranged_skip; auto|].
  apply Z.ltb_ge in E. apply (rearranged_trans _ (filter moves l) _ 0 0); auto.
  apply rearranged_one. lia.
Qed.

Lemma rearranged_sorted : forall l ms,
  positive l -> sorted_form l ms ->
  rearranged (filter moves l) ms (lowest (filter moves_twice l)).
Proof.
  intros l ms P S. set (t := filter moves_twice l).
  assert (A := rearranged_moving l P). fold t in A.
  assert (B : rearranged t (map by_size t) (lowest t)).
  { apply rearranged_by_size. apply filter_positive; auto. }
  assert (C := rearranged_permutation _ _ S). fold t in C.
  pose proof (rearranged_trans _ _ _ _ _ A (rearranged_trans _ _ _ _ _ B C)) as H.
  replace (lowest t) with (0 + (lowest t + 0)) by lia. auto.
Qed.

Lemma sorted_form_positive : forall l ms, positive l -> sorted_form l ms -> positive ms.
Proof.
  intros l ms P S. eapply Permutation_Forall; [exact S|].
  apply Forall_map. eapply Forall_impl; [|apply filter_positive; exact P].
  simpl; auto.
Qed.

Lemma sorted_form_extents : forall l ms, sorted_form l ms -> Forall (fun m => 2 <= extent m) ms.
Proof.
  intros l ms S. eapply Permutation_Forall; [exact S|].
  apply Forall_map, Forall_forall. intros m I. apply filter_In in I. destruct I as (_ & I).
  apply andb_true_iff in I. destruct I as (I & _). apply Z.ltb_lt in I. simpl. lia.
Qed.

(** ** The law *)

Section Law.

Variables (l ms : modes) (n count : Z).
Hypothesis legal : positive l.
Hypothesis sorts : sorted_form l ms.
Hypothesis chains : chain 1 ms.

Let k := repetitions ms n count.

Lemma law_positive : positive ms.
Proof. eapply sorted_form_positive; eauto. Qed.

Lemma repetitions_positive : 1 <= k.
Proof. unfold k, repetitions. lia. Qed.

Lemma law_rearranged :
  rearranged (filter moves l ++ complement ms n count) (filled 1 k ms) (lowest (filter moves_twice l)).
Proof.
  pose proof law_positive as P. pose proof repetitions_positive as K.
  assert (G : positive (gaps 1 k ms)) by (apply gaps_positive; auto; lia).
  assert (A := rearranged_app_r _ _ (complement ms n count) _ (rearranged_sorted _ _ legal sorts)).
  assert (B := rearranged_app_l ms _ _ _ (rearranged_coalesce _ G)).
  assert (C := rearranged_permutation _ _ (Permutation_sym (filled_parts ms 1 k))).
  pose proof (rearranged_trans _ _ _ _ _ A (rearranged_trans _ _ _ _ _ B C)) as H.
  replace (lowest (filter moves_twice l))
    with (lowest (filter moves_twice l) + (0 + 0)) by lia. exact H.
Qed.

Theorem complement_injective : injective (filter moves l ++ complement ms n count).
Proof.
  eapply rearranged_injective; [apply law_rearranged|].
  apply (chain_injective _ 1); [lia|]. apply filled_chain; auto using law_positive. lia.
Qed.

Theorem complement_reaches : n <= top 1 ms * k.
Proof.
  apply up_covers; [apply top_positive; auto using law_positive; lia|].
  unfold k, repetitions. lia.
Qed.

Theorem complement_count :
  count <= size (complement ms n count) /\ positive (complement ms n count).
Proof.
  pose proof law_positive as P. pose proof repetitions_positive as K.
  assert (G : positive (gaps 1 k ms)) by (apply gaps_positive; auto; lia).
  split; [|apply coalesce_positive; auto].
  unfold complement. fold k. rewrite coalesce_size by (apply positive_nonnegative; auto).
  rewrite gaps_between. apply up_covers.
  - apply size_positive, between_positive; auto. lia.
  - unfold k, repetitions. lia.
Qed.

End Law.

Lemma filled_dot : forall ms current k c,
  1 <= current -> divides_chain current ms -> inside (filled current k ms) c ->
  dot (filled current k ms) c = current * index (filled current k ms) c.
Proof.
  induction ms as [|m ms IH]; intros current k c B H I.
  - destruct (inside_cons_inv _ _ _ I) as (x & r & -> & X & R). inversion R. simpl. lia.
  - destruct (inside_cons_inv _ _ _ I) as (x & r & -> & X & R).
    destruct (inside_cons_inv _ _ _ R) as (y & s & -> & Y & S).
    destruct H as ((q & H) & H'). simpl extent in *. simpl.
    assert (Q : stride m / current = q) by (rewrite H; apply Z.div_mul; lia).
    destruct (Z_le_gt_dec 1 (stride m * extent m)) as [G|G].
    + rewrite IH by auto. rewrite Q, H. lia.
    + exfalso. rewrite Q in X. assert (1 <= stride m) by nia. nia.
Qed.

Lemma filled_size : forall ms current k,
  1 <= current -> chain current ms -> positive ms -> divides_chain current ms ->
  current * size (filled current k ms) = top current ms * k.
Proof.
  induction ms as [|m ms IH]; intros current k B C P H; simpl; [lia|].
  inversion_clear P. destruct C as (C & C'). destruct H as ((q & H) & H').
  assert (Q : stride m / current = q) by (rewrite H; apply Z.div_mul; lia).
  rewrite <- IH by (auto; nia). rewrite Q, H. lia.
Qed.

Theorem complement_fills : forall l ms n count,
  positive l -> sorted_form l ms -> chain 1 ms -> divides_chain 1 ms ->
  forall x, 0 <= x < Z.max 1 n ->
  exists c, inside (filter moves l ++ complement ms n count) c /\
    dot (filter moves l ++ complement ms n count) c = lowest (filter moves_twice l) + x /\
    forall d, inside (filter moves l ++ complement ms n count) d ->
      dot (filter moves l ++ complement ms n count) d = lowest (filter moves_twice l) + x -> d = c.
Proof.
  intros l ms n count P S C D x X.
  assert (PM := sorted_form_positive _ _ P S).
  set (k := repetitions ms n count).
  assert (K : 1 <= k) by (unfold k, repetitions; lia).
  assert (R := complement_reaches l ms n count P S C). fold k in R.
  assert (T : 1 <= top 1 ms) by (apply top_positive; auto; lia).
  assert (F : 1 * size (filled 1 k ms) = top 1 ms * k) by (apply filled_size; auto; lia).
  assert (FP : positive (filled 1 k ms)) by (apply filled_positive; auto; lia).
  destruct (law_rearranged l ms n count P S C) as (f & g & G & H). fold k in G, H.
  assert (B : 0 <= x < size (filled 1 k ms)) by nia.
  assert (I := digits_inside _ _ FP B).
  exists (g (digits (filled 1 k ms) x)). destruct (H _ I) as (H1 & H2).
  assert (E : dot (filter moves l ++ complement ms n count) (g (digits (filled 1 k ms) x))
              = lowest (filter moves_twice l) + x).
  { destruct (G _ H1) as (G1 & G2 & G3). rewrite G2, H2, filled_dot, index_digits by (auto; lia). lia. }
  repeat split; auto. intros d J L.
  apply (complement_injective l ms n count); auto. congruence.
Qed.

(** ** Ascending strides *)

Lemma merge_into_ascends : forall ms a,
  StronglySorted Z.lt (map stride (a :: ms)) ->
  StronglySorted Z.lt (map stride (merge_into false a ms)) /\
  forall z, Forall (Z.lt z) (map stride (a :: ms)) -> Forall (Z.lt z) (map stride (merge_into false a ms)).
Proof.
  induction ms as [|m ms IH]; intros a S; [auto|].
  inversion_clear S as [|? ? S1 S2]. simpl in S2. inversion_clear S2 as [|? ? L S3].
  assert (S' : StronglySorted Z.lt (map stride (a :: ms))).
  { simpl. constructor; auto. inversion_clear S1; auto. }
  simpl merge_into. destruct (_ =? _).
  - destruct (IH (Mode (extent a * extent m) (stride a)) S') as (A & B). split; auto.
    intros z F. apply B. simpl in *. inversion_clear F as [|? ? F1 F2]. inversion_clear F2. auto.
  - destruct (_ || _).
    + destruct (IH m S1) as (A & B). split.
      * simpl. constructor; auto. apply B. simpl. auto.
      * intros z F. simpl in *. inversion_clear F. constructor; auto.
    + destruct (IH a S') as (A & B). split; auto.
      intros z F. apply B. simpl in *. inversion_clear F as [|? ? F1 F2]. inversion_clear F2. auto.
Qed.

Lemma merge_ascends : forall ms,
  StronglySorted Z.lt (map stride ms) -> StronglySorted Z.lt (map stride (merge false ms)).
Proof.
  induction ms as [|m ms IH]; intros S; simpl; auto.
  destruct (_ || _); [apply merge_into_ascends; auto|]. apply IH. inversion_clear S; auto.
Qed.

Lemma gaps_ascend : forall ms current k,
  1 <= current -> Forall (fun m => 2 <= extent m) ms -> chain current ms ->
  StronglySorted Z.lt (map stride (gaps current k ms)) /\
  Forall (Z.le current) (map stride (gaps current k ms)).
Proof.
  induction ms as [|m ms IH]; intros current k B E C; simpl.
  - repeat constructor. lia.
  - inversion_clear E as [|? ? E1 E2]. destruct C as (C & C').
    destruct (IH (stride m * extent m) k ltac:(nia) E2 C') as (A & D).
    split; constructor; auto; try lia;
      (eapply Forall_impl; [|exact D]; simpl; intros; nia).
Qed.

Theorem complement_ascends : forall l ms n count,
  sorted_form l ms -> chain 1 ms -> StronglySorted Z.lt (map stride (complement ms n count)).
Proof.
  intros l ms n count S C. unfold complement, coalesce, coalesce_with.
  destruct (existsb _ _); [repeat constructor|].
  assert (A := merge_ascends _ (proj1 (gaps_ascend ms 1 (repetitions ms n count) ltac:(lia)
    (sorted_form_extents _ _ S) C))).
  destruct (merge false _); [repeat constructor | auto].
Qed.
