(** Logical division and product, from composition and complement.

    Division: A composed with (T, complement of T over the size of A), for a tile T without repeats whose
    strides by size are a chain of divisors, which together divide the size of A. T counts from its
    smallest offset.

    What is proved:
    - [tile_and_rest]: tile and rest together are every index of A, each once;
    - [logical_divide_law]: every composition with them has A's value at A's index, reaches the offsets
      that A reaches and no other, and has as many coordinates as A.

    Product: A, and its complement composed with B.

    What is proved:
    - [logical_product_law]: the value is A(a) + complement(B(b)), and where no two coordinates of B share
      a value, no two coordinates (a, b) share an offset, A's repeats dropped.

    Not here: the zipped, tiled, flat, blocked and raked forms, which order the same modes in another way,
    and the forms that round an axis up to whole tiles.

    Rust: crates/tilewright-core/src/algebra/divide.rs, product.rs. *)

From Coq Require Import ZArith List Lia Bool Permutation.
From Tilewright Require Import Layout Coalesce Floor Composition Complement.
Import ListNotations.
Open Scope Z_scope.

(** ** Division *)

Lemma up_exact : forall a b, 1 <= b -> up (b * a) b = a.
Proof.
  intros a b B. unfold up. symmetry.
  apply (Z.div_unique_pos _ _ _ (b - 1)); lia.
Qed.

Lemma up_one : forall b, 1 <= b -> up 1 b = 1.
Proof. intros b B. unfold up. replace (1 + b - 1) with b by lia. apply Z.div_same. lia. Qed.

Lemma lowest_moving : forall l, positive l -> lowest (filter moves_twice l) = lowest l.
Proof.
  induction 1 as [|[e d] l M P IH]; [reflexivity|]. cbn [filter extent] in *.
  unfold moves_twice at 1, moves at 1. cbn [extent stride].
  destruct (Z.ltb_spec 1 e); destruct (Z.eqb_spec d 0); cbn [negb andb lowest extent stride]; rewrite IH;
    try subst d; try (assert (e = 1) by lia; subst e); lia.
Qed.

Section Divide.

Variables (t ms : modes) (n : Z).
Hypothesis legal : positive t.
Hypothesis no_repeats : filter moves t = t.
Hypothesis sorts : sorted_form t ms.
Hypothesis chains : chain 1 ms.
Hypothesis divides : divides_chain 1 ms.
Hypothesis whole : (top 1 ms | n).
Hypothesis some : 1 <= n.

Definition tiles : modes := t ++ complement ms n 1.

Lemma repetitions_exact : top 1 ms * repetitions ms n 1 = n.
Proof.
  assert (P := sorted_form_positive _ _ legal sorts).
  assert (T : 1 <= top 1 ms) by (apply top_positive; auto; lia).
  destruct whole as (q & Q). unfold repetitions.
  rewrite up_one by (apply size_positive, between_positive; auto; lia).
  assert (U : up n (top 1 ms) = q) by (rewrite Q, (Z.mul_comm q); apply up_exact; auto). rewrite U.
  assert (1 <= q) by nia. replace (Z.max 1 (Z.max q 1)) with q by lia. lia.
Qed.

Theorem tile_and_rest :
  (forall c, inside tiles c -> 0 <= dot tiles c - lowest t < n) /\
  (forall x, 0 <= x < n -> exists c, inside tiles c /\ dot tiles c - lowest t = x) /\
  injective tiles.
Proof.
  unfold tiles.
  assert (P := sorted_form_positive _ _ legal sorts).
  assert (K := repetitions_positive ms n 1).
  assert (S := filled_size ms 1 (repetitions ms n 1) ltac:(lia) chains P divides).
  rewrite repetitions_exact in S.
  repeat split.
  - destruct (law_rearranged t ms n 1 legal sorts chains) as (f & g & F & _).
    rewrite no_repeats, lowest_moving in F by auto. destruct (F c H) as (I & D & _).
    rewrite filled_dot in D by (auto; lia). pose proof (index_range _ _ I). lia.
  - destruct (law_rearranged t ms n 1 legal sorts chains) as (f & g & F & _).
    rewrite no_repeats, lowest_moving in F by auto. destruct (F c H) as (I & D & _).
    rewrite filled_dot in D by (auto; lia). pose proof (index_range _ _ I). lia.
  - intros x X.
    destruct (complement_fills t ms n 1 legal sorts chains divides x ltac:(lia)) as (c & C & D & _).
    rewrite no_repeats, lowest_moving in * by auto. exists c. split; auto. lia.
  - pose proof (complement_injective t ms n 1 legal sorts chains) as I. rewrite no_repeats in I. exact I.
Qed.

(** A in tiles: any composition of A with tile and rest. *)
Variables (a : layout) (rs : list modes) (k : Z).
Hypothesis of_size : n = size (parts a).
Hypothesis divided : composition a (Layout tiles (- lowest t)) rs k.

Theorem logical_divide_law :
  (forall c, inside tiles c -> exists i, 0 <= i < size (parts a) /\
    i = dot tiles c - lowest t /\ k + values rs c = at_index a i) /\
  (forall i, 0 <= i < size (parts a) -> exists c, inside tiles c /\
    i = dot tiles c - lowest t /\ k + values rs c = at_index a i) /\
  (forall c d, inside tiles c -> inside tiles d -> dot tiles c = dot tiles d -> c = d).
Proof.
  destruct tile_and_rest as (A & B & C). destruct divided as (_ & V). simpl in V. repeat split; auto.
  - intros c I. exists (dot tiles c - lowest t). rewrite <- of_size. split; auto. split; auto.
    rewrite <- V by auto. f_equal. lia.
  - intros i I. destruct (B i ltac:(lia)) as (c & D & E). exists c. repeat split; auto.
    rewrite <- V, <- E by auto. f_equal. lia.
Qed.

End Divide.

(** ** Product *)

Section Product.

Variables (a ms : modes) (b : layout) (n count : Z) (rs : list modes) (k : Z).
Hypothesis legal : positive a.
Hypothesis sorts : sorted_form a ms.
Hypothesis chains : chain 1 ms.
Hypothesis within : forall d, inside (parts b) d -> 0 <= offset b + dot (parts b) d < count.
Hypothesis copies : composition (Layout (complement ms n count) 0) b rs k.

(** A without its repeats, and its copies. *)
Definition product (c d : list Z) : Z := dot (filter moves a) c + (k + values rs d).

Theorem logical_product_law :
  (forall c d, inside (parts b) d ->
    product c d = dot (filter moves a) c + value (complement ms n count) (offset b + dot (parts b) d)) /\
  (injective (parts b) -> forall c d c' d',
    inside (filter moves a) c -> inside (parts b) d ->
    inside (filter moves a) c' -> inside (parts b) d' ->
    product c d = product c' d' -> c = c' /\ d = d').
Proof.
  destruct copies as (_ & V).
  assert (W : forall c d, inside (parts b) d ->
    product c d = dot (filter moves a) c + value (complement ms n count) (offset b + dot (parts b) d)).
  { intros c d D. unfold product. rewrite <- V by auto. unfold at_index. simpl. lia. }
  split; auto. intros I c d c' d' C D C' D' E. rewrite !W in E by auto.
  destruct (complement_count a ms n count legal sorts chains) as (N & P).
  assert (B := within d D). assert (B' := within d' D').
  rewrite !value_digits in E by (auto; lia).
  assert (G := digits_inside (complement ms n count) _ P
    (conj (proj1 B) (Z.lt_le_trans _ _ _ (proj2 B) N))).
  assert (G' := digits_inside (complement ms n count) _ P
    (conj (proj1 B') (Z.lt_le_trans _ _ _ (proj2 B') N))).
  rewrite <- !dot_app in E by auto.
  apply (complement_injective a ms n count legal sorts chains) in E; [|apply inside_app; auto..].
  assert (L : length c = length c').
  { rewrite <- (inside_length _ _ C), <- (inside_length _ _ C'). reflexivity. }
  assert (X : c = c' /\ digits (complement ms n count) (offset b + dot (parts b) d)
                       = digits (complement ms n count) (offset b + dot (parts b) d')).
  { clear - E L. revert c' L E. induction c as [|x c IH]; intros [|y c'] L E; try discriminate; auto.
    simpl in *. injection E as -> E. injection L as L. destruct (IH _ L E). subst. auto. }
  destruct X as (X & Y). split; auto.
  apply (f_equal (index (complement ms n count))) in Y.
  rewrite !index_digits in Y by (auto; lia). apply I; auto. lia.
Qed.

End Product.
