(** The fingerprint: a linear form of the data.

    A coordinate is the list of digits of all indices, and of the limbs of elements. Value 0 of a digit has
    weight 1, every other value one of its own. The form is the sum of element times the weights of its
    digits; the fingerprint is that modulo a prime.

    What is proved:
    - [form_is_sum], [form_any_order]: it is that sum, over the coordinates in any order;
    - [form_linear], [form_parts]: it is linear, and the forms of disjoint parts add up;
    - [weights_multiply]: weights multiply where two coordinates have no digit in common.

    Rust: crates/tilewright-fingerprint/src/weights.rs, sum.rs, value.rs. *)

From Coq Require Import ZArith List Lia Permutation.
Import ListNotations.
Open Scope Z_scope.

Local Arguments Z.add : simpl never.
Local Arguments Z.mul : simpl never.
Local Arguments Z.of_nat : simpl never.

Fixpoint dots (a b : list Z) : Z :=
  match a, b with
  | x :: a', y :: b' => x * y + dots a' b'
  | _, _ => 0
  end.

(** Digits of [ks] values each, the weights of the values above 0 of each digit, and the data. *)
Fixpoint form (ks : list nat) (ws : list (list Z)) (x : list nat -> Z) : Z :=
  match ks, ws with
  | k :: ks', w :: ws' =>
      dots (1 :: w) (map (fun v => form ks' ws' (fun c => x (v :: c))) (seq 0 k))
  | _, _ => x []
  end.

(** ** A linear form *)

Lemma dots_add : forall l w (f g h : nat -> Z),
  (forall v, f v = g v + h v) -> dots w (map f l) = dots w (map g l) + dots w (map h l).
Proof.
  induction l as [|v l IH]; intros [|t w] f g h E; simpl; try lia.
  rewrite (IH w f g h E), E. lia.
Qed.

Lemma dots_scale : forall l w (f g : nat -> Z) k,
  (forall v, f v = k * g v) -> dots w (map f l) = k * dots w (map g l).
Proof.
  induction l as [|v l IH]; intros [|t w] f g k E; simpl; try lia.
  rewrite (IH w f g k E), E. lia.
Qed.

Theorem form_parts : forall ks ws x y z,
  (forall c, x c = y c + z c) -> form ks ws x = form ks ws y + form ks ws z.
Proof.
  induction ks as [|k ks IH]; intros [|w ws] x y z E; cbn [form]; auto.
  apply dots_add. intros v. apply IH. intros c. apply E.
Qed.

Lemma form_scale : forall ks ws x y k,
  (forall c, x c = k * y c) -> form ks ws x = k * form ks ws y.
Proof.
  induction ks as [|n ks IH]; intros [|w ws] x y k E; cbn [form]; auto.
  apply dots_scale. intros v. apply IH. intros c. apply E.
Qed.

Theorem form_linear : forall ks ws x y a b,
  form ks ws (fun c => a * x c + b * y c) = a * form ks ws x + b * form ks ws y.
Proof.
  intros. rewrite (form_parts _ _ _ (fun c => a * x c) (fun c => b * y c)) by auto.
  rewrite (form_scale ks ws (fun c => a * x c) x a), (form_scale ks ws (fun c => b * y c) y b) by auto.
  reflexivity.
Qed.

(** ** A sum over coordinates *)

Fixpoint coordinates (ks : list nat) : list (list nat) :=
  match ks with
  | [] => [[]]
  | k :: ks' => flat_map (fun v => map (cons v) (coordinates ks')) (seq 0 k)
  end.

(** The weight of a coordinate. *)
Fixpoint weight (ws : list (list Z)) (c : list nat) : Z :=
  match ws, c with
  | w :: ws', v :: c' => nth v (1 :: w) 0 * weight ws' c'
  | _, _ => 1
  end.

Definition total (l : list Z) : Z := fold_right Z.add 0 l.

Lemma total_app : forall a b, total (a ++ b) = total a + total b.
Proof. induction a; intros; simpl; [reflexivity | rewrite IHa; lia]. Qed.

Lemma total_scale : forall {A} (l : list A) (f : A -> Z) k,
  total (map (fun a => k * f a) l) = k * total (map f l).
Proof. induction l; intros; simpl; [lia | rewrite IHl; lia]. Qed.

Lemma total_permutation : forall a b, Permutation a b -> total a = total b.
Proof. induction 1; simpl; lia. Qed.

Lemma dots_seq : forall k s w f,
  length w = (k - 0)%nat -> dots w (map f (seq s k)) = total (map (fun v => nth (v - s) w 0 * f v) (seq s k)).
Proof.
  induction k as [|k IH]; intros s [|t w] f L; simpl in *; try lia.
  rewrite IH by lia. rewrite Nat.sub_diag. f_equal. f_equal.
  apply map_ext_in. intros v V. apply in_seq in V.
  replace (v - s)%nat with (S (v - S s)) by lia. reflexivity.
Qed.

(** There is a weight for each value of each digit above 0. *)
Definition weighs (ks : list nat) (ws : list (list Z)) :=
  Forall2 (fun k w => k = S (length w)) ks ws.

Theorem form_is_sum : forall ks ws x,
  weighs ks ws -> form ks ws x = total (map (fun c => weight ws c * x c) (coordinates ks)).
Proof.
  intros ks ws x H. revert x. induction H as [|k w ks ws K H IH]; intros x; [simpl; lia|].
  cbn [form coordinates]. rewrite dots_seq by (simpl; lia).
  induction (seq 0 k) as [|v l IL]; [reflexivity|].
  cbn [flat_map map]. rewrite map_app, total_app, <- IL. cbn [total fold_right].
  f_equal. rewrite Nat.sub_0_r, IH, map_map, <- total_scale. f_equal. apply map_ext.
  intros c. cbn [weight]. lia.
Qed.

Theorem form_any_order : forall ks ws x order,
  weighs ks ws -> Permutation (coordinates ks) order ->
  form ks ws x = total (map (fun c => weight ws c * x c) order).
Proof.
  intros ks ws x order H P. rewrite form_is_sum by auto.
  apply total_permutation, Permutation_map, P.
Qed.

(** Digit by digit, at least one is 0. *)
Fixpoint sum_of (c d : list nat) : list nat :=
  match c, d with
  | u :: c', v :: d' => (u + v)%nat :: sum_of c' d'
  | _, _ => []
  end.

Theorem weights_multiply : forall ws c d,
  Forall2 (fun u v => u = 0%nat \/ v = 0%nat) c d ->
  weight ws (sum_of c d) = weight ws c * weight ws d.
Proof.
  intros ws c d H. revert ws. induction H as [|u v c d N H IH]; intros [|w ws]; simpl; try lia.
  rewrite IH. destruct N as [-> | ->].
  - simpl. lia.
  - rewrite Nat.add_0_r. simpl. lia.
Qed.
