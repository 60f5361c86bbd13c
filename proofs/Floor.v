(** The floor identity: a layout is a slope and a jump at each boundary between its modes.

    What is proved, for modes of extent 1 and more, with P_j the product of the first j extents and
    e_j = t_j - a_(j-1) * t_(j-1):
    - [floor_identity]: A(x) = t_0 * x + sum over j of e_j * floor(x / P_j), for every integer x;
    - [boundaries_divide]: every boundary divides the next;
    - [boundaries_ascend]: they ascend where all extents but the last are 2 and more;
    - [jumps_not_zero]: no jump is 0 where no mode goes on where the one before it ends, as in what
      coalescing gives.

    Rust: crates/tilewright-core/src/algebra/composition/jumps.rs. *)

From Coq Require Import ZArith List Lia.
From Tilewright Require Import Layout Coalesce.
Import ListNotations.
Open Scope Z_scope.

(** The boundaries behind [before], which begins at [p], each with its jump. *)
Fixpoint jumps (p : Z) (before : mode) (rest : modes) : list (Z * Z) :=
  match rest with
  | [] => []
  | m :: more =>
      (p * extent before, stride m - extent before * stride before)
        :: jumps (p * extent before) m more
  end.

(** The sum of the jumps, each times what [f] makes of its boundary. *)
Fixpoint weighed (js : list (Z * Z)) (f : Z -> Z) : Z :=
  match js with
  | [] => 0
  | (p, e) :: more => e * f p + weighed more f
  end.

Lemma weighed_add : forall js f g, weighed js (fun p => f p + g p) = weighed js f + weighed js g.
Proof. induction js as [|[p e] js IH]; intros; simpl; [lia | rewrite IH; lia]. Qed.

Lemma weighed_scale : forall js f k, weighed js (fun p => k * f p) = k * weighed js f.
Proof. induction js as [|[p e] js IH]; intros; simpl; [lia | rewrite IH; lia]. Qed.

Lemma weighed_same : forall js f g,
  Forall (fun j => f (fst j) = g (fst j)) js -> weighed js f = weighed js g.
Proof. induction 1 as [|[p e] js H _ IH]; simpl in *; congruence. Qed.

Lemma value_jumps : forall rest m p x,
  1 <= p -> positive (m :: rest) ->
  value (m :: rest) (x / p) = stride m * (x / p) + weighed (jumps p m rest) (fun q => x / q).
Proof.
  induction rest as [|m' rest IH]; intros m p x B P; [simpl; lia|].
  inversion_clear P as [|? ? M Q].
  rewrite value_step by (auto; left; discriminate).
  rewrite Z.div_div by lia. rewrite IH by (auto; nia). simpl.
  rewrite <- (Z.div_div x p) by lia.
  pose proof (Z.div_mod (x / p) (extent m)). nia.
Qed.

Theorem floor_identity : forall m rest x,
  positive (m :: rest) ->
  value (m :: rest) x = stride m * x + weighed (jumps 1 m rest) (fun p => x / p).
Proof.
  intros m rest x P. rewrite <- (Z.div_1_r x) at 1 2. apply value_jumps; auto; lia.
Qed.

(** ** The boundaries *)

Lemma boundaries_positive : forall rest m p,
  1 <= p -> positive (m :: rest) -> Forall (fun j => 1 <= fst j) (jumps p m rest).
Proof.
  induction rest as [|m' rest IH]; intros m p B P; simpl; constructor; inversion_clear P; simpl.
  - nia.
  - apply IH; auto. nia.
Qed.

(** Each number of a list that begins behind [p] has this relation to the one before it. *)
Fixpoint linked (r : Z -> Z -> Prop) (p : Z) (l : list Z) : Prop :=
  match l with
  | [] => True
  | q :: more => r p q /\ linked r q more
  end.

Theorem boundaries_divide : forall rest m p, linked Z.divide p (map fst (jumps p m rest)).
Proof.
  induction rest as [|m' rest IH]; intros m p; simpl; auto. split; auto.
  exists (extent m). lia.
Qed.

Theorem boundaries_ascend : forall rest m p,
  1 <= p -> Forall (fun m => 2 <= extent m) (removelast (m :: rest)) ->
  linked Z.lt p (map fst (jumps p m rest)).
Proof.
  induction rest as [|m' rest IH]; intros m p B E; [exact I|].
  change (removelast (m :: m' :: rest)) with (m :: removelast (m' :: rest)) in E.
  inversion_clear E as [|? ? M R]. simpl. split; [nia|].
  apply IH; auto. nia.
Qed.

Theorem jumps_not_zero : forall rest m p,
  separate (m :: rest) -> Forall (fun j => snd j <> 0) (jumps p m rest).
Proof.
  induction rest as [|m' rest IH]; intros m p S; simpl; constructor; destruct S as (N & S); simpl.
  - lia.
  - apply IH; auto.
Qed.
