(** Left inverse of a chain of divisors: the index at an offset.

    The modes of L that move, sorted by the size of their strides, are a chain of divisors: each stride is
    a multiple of the one before it, and at least what the mode before it reaches with one step more. The
    inverse cuts offsets, counted from the smallest of L, at the strides; each digit is the index that its
    mode steps over.

    What is proved:
    - [left_inverse_law]: R(L(i)) = i for every coordinate that is 0 along the repeats (stride 0) of L;
    - [left_inverse_shape]: R has positive extents, and every such offset lies below its size.

    Not here: layouts that are no such chain, for which Rust searches digits (digits.rs), and what R says
    at offsets that L does not reach.

    Rust: crates/tilewright-core/src/algebra/left_inverse.rs. *)

From Coq Require Import ZArith List Lia Bool Permutation.
From Tilewright Require Import Layout Coalesce Complement RightInverse.
Import ListNotations.
Open Scope Z_scope.

(** The inverse behind a mode of extent [e] at the stride [below], whose digit is worth [digit]. *)
Fixpoint lefts (below e digit : Z) (im : list (mode * Z)) : modes :=
  match im with
  | [] => [Mode e digit]
  | (m, p) :: rest =>
      Mode (Z.abs (stride m) / below) digit :: lefts (Z.abs (stride m)) (extent m) (step_up m p) rest
  end.

Fixpoint divisors (below e : Z) (im : list (mode * Z)) : Prop :=
  match im with
  | [] => True
  | (m, p) :: rest =>
      (below | Z.abs (stride m)) /\ e * below <= Z.abs (stride m) /\
      divisors (Z.abs (stride m)) (extent m) rest
  end.

(** The modes that move, each with its index, in any order. *)
Definition sorted_indices (l : modes) (im : list (mode * Z)) :=
  Permutation (filter (fun i => moves_twice (fst i)) (indexed 1 l)) im.

Definition left_inverse (l : modes) (im : list (mode * Z)) : layout :=
  Layout (coalesce (lefts 1 1 0 im)) (origin 1 l).

(** ** Coordinates, counted upwards *)

Definition rise (m : mode) (y : Z) : Z := if stride m <? 0 then extent m - 1 - y else y.

Fixpoint raised (p : Z) (ms : modes) (c : list Z) : list ((mode * Z) * Z) :=
  match ms, c with
  | m :: ms', y :: c' => ((m, p), rise m y) :: raised (p * extent m) ms' c'
  | _, _ => []
  end.

Fixpoint offsets (t : list ((mode * Z) * Z)) : Z :=
  match t with
  | [] => 0
  | ((m, _), y) :: rest => y * Z.abs (stride m) + offsets rest
  end.

Fixpoint indices (t : list ((mode * Z) * Z)) : Z :=
  match t with
  | [] => 0
  | ((m, p), y) :: rest => y * step_up m p + indices rest
  end.

Lemma raised_offsets : forall ms p c, inside ms c -> dot ms c = lowest ms + offsets (raised p ms c).
Proof.
  intros ms p c I. revert p. induction I as [|m y ms c Y I IH]; intros p; simpl; [reflexivity|].
  rewrite (IH (p * extent m)). unfold rise. destruct (Z.ltb_spec (stride m) 0).
  - rewrite Z.min_r, Z.abs_neq by nia. lia.
  - rewrite Z.min_l, Z.abs_eq by nia. lia.
Qed.

Lemma raised_indices : forall ms p c,
  inside ms c -> p * index ms c = origin p ms + indices (raised p ms c).
Proof.
  intros ms p c I. revert p. induction I as [|m y ms c Y I IH]; intros p; simpl; [lia|].
  specialize (IH (p * extent m)). unfold rise, step_up.
  destruct (stride m <? 0); lia.
Qed.

Lemma raised_modes : forall ms p c, inside ms c -> map fst (raised p ms c) = indexed p ms.
Proof. intros ms p c I. revert p. induction I; intros p; simpl; congruence. Qed.

(** Repeats stand at 0. *)
Definition settled (ms : modes) (c : list Z) := Forall2 (fun m y => stride m = 0 -> y = 0) ms c.

(** Modes that do not move add nothing. *)
Lemma raised_moving : forall ms p c, inside ms c -> settled ms c ->
  offsets (filter (fun t => moves_twice (fst (fst t))) (raised p ms c)) = offsets (raised p ms c) /\
  indices (filter (fun t => moves_twice (fst (fst t))) (raised p ms c)) = indices (raised p ms c) /\
  Forall (fun t => 0 <= snd t < extent (fst (fst t))) (raised p ms c).
Proof.
  intros ms p c I. revert p. induction I as [|m y ms c Y I IH]; intros p S; [repeat split; constructor|].
  inversion S as [|? ? ? ? S1 S2]; subst. destruct (IH (p * extent m) S2) as (A & B & D).
  simpl raised. simpl filter.
  assert (R : 0 <= rise m y < extent m) by (unfold rise; destruct (stride m <? 0); lia).
  assert (Z : moves_twice m = false -> rise m y = 0).
  { unfold moves_twice, moves. intros F. apply andb_false_iff in F. destruct F as [F|F].
    - apply Z.ltb_ge in F. lia.
    - apply negb_false_iff, Z.eqb_eq in F. unfold rise. rewrite F. simpl. auto. }
  destruct (moves_twice m); simpl; rewrite ?A, ?B; repeat split; auto;
    rewrite (Z eq_refl); lia.
Qed.

Lemma sums_permutation : forall a b, Permutation a b -> offsets a = offsets b /\ indices a = indices b.
Proof.
  induction 1 as [|[[m p] y] a b H (A & B)|[[m p] y] [[n q] z] a|a b c H (A & B) K (D & E)];
    simpl; split; lia.
Qed.

(** ** The inverse *)

Lemma divisors_multiple : forall t below e,
  divisors below e (map fst t) -> (below | offsets t).
Proof.
  induction t as [|[[m p] y] t IH]; intros below e D; simpl; [apply Z.divide_0_r|].
  destruct D as (D & _ & D'). apply Z.divide_add_r; [apply Z.divide_mul_r; auto|].
  eapply Z.divide_trans; [exact D | eapply IH; exact D'].
Qed.

Lemma lefts_positive : forall im below e digit,
  1 <= below -> 1 <= e -> Forall (fun i => 1 <= extent (fst i)) im -> divisors below e im ->
  positive (lefts below e digit im).
Proof.
  induction im as [|[m p] im IH]; intros below e digit B E P D; simpl.
  - repeat constructor. auto.
  - inversion_clear P as [|? ? M P']. destruct D as ((q & Q) & G & D). constructor.
    + simpl. apply Z.div_le_lower_bound; nia.
    + apply IH; auto. nia.
Qed.

Lemma lefts_value : forall t below e digit y s,
  1 <= below -> 0 <= s < e ->
  Forall (fun t => 0 <= snd t < extent (fst (fst t))) t ->
  divisors below e (map fst t) ->
  below * (y - s) = offsets t ->
  0 <= y < size (lefts below e digit (map fst t)) /\
  value (lefts below e digit (map fst t)) y = s * digit + indices t.
Proof.
  induction t as [|[[m p] z] t IH]; intros below e digit y s B S F D E.
  - simpl in *. assert (y = s) by nia. subst y. lia.
  - inversion_clear F as [|? ? Z F']. simpl in Z. cbn [map fst lefts] in *.
    destruct D as ((q & Q) & G & D).
    assert (QB : Z.abs (stride m) / below = q) by (rewrite Q; apply Z.div_mul; lia).
    assert (e <= q) by nia.
    destruct (divisors_multiple _ _ _ D) as (k & K). cbn [offsets] in E.
    assert (Y : y = s + q * (z + k)) by nia.
    destruct (IH (Z.abs (stride m)) (extent m) (step_up m p) (z + k) z) as (R & V); auto; try nia.
    rewrite QB. cbn [size extent]. split; [nia|].
    rewrite value_step.
    + cbn [extent stride indices]. rewrite Y, digit_mod, digit_div, V by lia. lia.
    + simpl. lia.
    + left. destruct (map fst t) as [|[n q'] r]; discriminate.
Qed.

Section Law.

Variables (l : modes) (im : list (mode * Z)).
Hypothesis legal : positive l.
Hypothesis sorts : sorted_indices l im.
Hypothesis chains : divisors 1 1 im.

Lemma sorted_positive : Forall (fun i => 1 <= extent (fst i)) im.
Proof.
  eapply Permutation_Forall; [exact sorts|]. apply Forall_forall. intros [m p] I.
  apply filter_In in I. destruct I as (I & _).
  assert (M : In m (map fst (indexed 1 l))) by (apply (in_map fst) in I; auto).
  rewrite indexed_modes in M. unfold positive in legal. rewrite Forall_forall in legal. simpl. auto.
Qed.

Lemma left_inverse_both : forall c,
  inside l c -> settled l c ->
  0 <= dot l c - lowest l < size (lefts 1 1 0 im) /\
  origin 1 l + value (lefts 1 1 0 im) (dot l c - lowest l) = index l c.
Proof.
  intros c I S.
  set (t := filter (fun t => moves_twice (fst (fst t))) (raised 1 l c)).
  destruct (raised_moving l 1 c I S) as (A & B & D). fold t in A, B.
  assert (M : map fst t = filter (fun i => moves_twice (fst i)) (indexed 1 l)).
  { unfold t. rewrite <- (raised_modes l 1 c I). generalize (raised 1 l c).
    induction l0 as [|[[m p] y] r IR]; simpl; auto. destruct (moves_twice m); simpl; congruence. }
  assert (P : Permutation im (map fst t)) by (rewrite M; symmetry; exact sorts).
  apply Permutation_map_inv in P. destruct P as (u & U & P).
  destruct (sums_permutation _ _ P) as (O & X).
  assert (F : Forall (fun t => 0 <= snd t < extent (fst (fst t))) u).
  { eapply Permutation_Forall; [exact P|]. unfold t. apply Forall_forall. intros w W.
    apply filter_In in W. rewrite Forall_forall in D. apply D. tauto. }
  pose proof chains as C. rewrite U in C.
  assert (V := raised_offsets l 1 c I). assert (W := raised_indices l 1 c I).
  destruct (lefts_value u 1 1 0 (dot l c - lowest l) 0 ltac:(lia) ltac:(lia) F C ltac:(lia)) as (R & E).
  rewrite U. split; auto. rewrite E. lia.
Qed.

Theorem left_inverse_shape :
  positive (parts (left_inverse l im)) /\
  forall c, inside l c -> settled l c ->
    0 <= dot l c - lowest l < size (parts (left_inverse l im)).
Proof.
  assert (P : positive (lefts 1 1 0 im)).
  { apply lefts_positive; auto using sorted_positive; lia. }
  simpl. split; [apply coalesce_positive; auto|]. intros c I S.
  rewrite coalesce_size by (apply positive_nonnegative; auto).
  apply left_inverse_both; auto.
Qed.

Theorem left_inverse_law : forall c,
  inside l c -> settled l c ->
  at_index (left_inverse l im) (dot l c - lowest l) = index l c.
Proof.
  intros c I S. destruct (left_inverse_both c I S) as (B & E).
  unfold at_index, left_inverse. simpl. rewrite coalesce_value; auto.
  apply positive_nonnegative, lefts_positive; auto using sorted_positive; lia.
Qed.

End Law.
