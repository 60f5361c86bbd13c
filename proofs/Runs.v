(** Runs: a mode of B taken apart where A is no longer linear along it.

    What is proved, for any function f with f(0) = 0 and a mode of n steps of D:
    - [runs_unique]: the mode splits into one list of runs at most;
    - [runs_or_stuck], [runs_not_stuck]: either it splits, or a run breaks that does not divide what is
      left, never both;
    - [runs_of_values]: where f is a layout of reduced modes along the mode, it splits, and these modes are
      its runs, each with the value of its first step.

    Rust: crates/tilewright-core/src/algebra/composition/jumps.rs. *)

From Coq Require Import ZArith Znumtheory List Lia.
From Tilewright Require Import Layout Coalesce.
Import ListNotations.
Open Scope Z_scope.

(** A mode of extent [n] that steps by [D], taken apart where [f] is no longer linear: a run of [q] steps
    ends exactly there, and the first elements of the runs go on with the step [D * q]. *)
Inductive runs (f : Z -> Z) : Z -> Z -> modes -> Prop :=
| runs_end : forall D, runs f D 1 []
| runs_next : forall D q n rs,
    2 <= q -> 1 <= n ->
    (forall c, 0 <= c < q -> f (D * c) = c * f D) ->
    n = 1 \/ f (D * q) <> q * f D ->
    runs f (D * q) n rs ->
    runs f D (q * n) (Mode q D :: rs).

(** The runs cannot be split any further: one breaks, and does not divide what is left. *)
Inductive stuck (f : Z -> Z) : Z -> Z -> Prop :=
| stuck_here : forall D q n,
    2 <= q < n ->
    (forall c, 0 <= c < q -> f (D * c) = c * f D) ->
    f (D * q) <> q * f D ->
    ~ (q | n) ->
    stuck f D n
| stuck_later : forall D q n,
    2 <= q -> 2 <= n ->
    (forall c, 0 <= c < q -> f (D * c) = c * f D) ->
    f (D * q) <> q * f D ->
    stuck f (D * q) n ->
    stuck f D (q * n).

Lemma runs_shape : forall f D n rs, runs f D n rs -> positive rs /\ size rs = n.
Proof.
  induction 1 as [|D q n rs Q N L B R (P & S)]; split; simpl; try constructor; simpl; auto; lia.
Qed.

Theorem runs_unique : forall f D n r s, runs f D n r -> runs f D n s -> r = s.
Proof.
  intros f D n r s H. revert s. induction H as [|D q n rs Q N L B R IH]; intros s H.
  - inversion H; auto. nia.
  - inversion H as [|? q' n' rs' Q' N' L' B' R' E]; subst; [nia|].
    assert (q = q').
    { destruct (Z.lt_trichotomy q q') as [G|[G|G]]; auto; exfalso.
      - destruct B as [B|B]; [subst; nia|]. apply B. apply L'. lia.
      - destruct B' as [B'|B']; [subst; nia|]. apply B'. apply L. lia. }
    subst q'. assert (n = n') by nia. subst n'. f_equal. auto.
Qed.

(** The first break of [f], or the end. *)
Lemma first_break : forall f D (k : nat), f 0 = 0 ->
  exists q, 2 <= q <= Z.of_nat k + 2 /\
    (forall c, 0 <= c < q -> f (D * c) = c * f D) /\
    (q = Z.of_nat k + 2 \/ f (D * q) <> q * f D).
Proof.
  intros f D k Z. induction k as [|k (q & Q & L & B)].
  - exists 2. split; [lia|]. split; [|left; reflexivity].
    intros c C. assert (c = 0 \/ c = 1) as [-> | ->] by lia.
    + rewrite Z.mul_0_r, Z. reflexivity.
    + rewrite Z.mul_1_r, Z.mul_1_l. reflexivity.
  - destruct B as [B|B]; [|exists q; repeat split; auto; lia].
    destruct (Z.eq_dec (f (D * q)) (q * f D)) as [E|E]; [|exists q; repeat split; auto; lia].
    exists (q + 1). split; [lia|]. split; [|left; lia].
    intros c C. assert (c = q \/ 0 <= c < q) as [-> | G] by lia; auto.
Qed.

Theorem runs_or_stuck : forall f D n, f 0 = 0 -> 1 <= n -> (exists rs, runs f D n rs) \/ stuck f D n.
Proof.
  intros f D n F N. revert D.
  pattern n. apply Zlt_lower_bound_ind with (z := 1); auto. clear n N.
  intros n IH N D.
  destruct (Z.eq_dec n 1) as [->|N1]; [left; exists []; constructor|].
  destruct (first_break f D (Z.to_nat (n - 2)) F) as (q & Q & L & B).
  rewrite Z2Nat.id in * by lia. replace (n - 2 + 2) with n in * by lia.
  destruct (Zdivide_dec q n) as [(k & K)|K].
  - assert (E : n = q * k) by lia. assert (1 <= k) by nia.
    destruct (IH k ltac:(nia) (D * q)) as [(rs & R)|S].
    + left. exists (Mode q D :: rs). rewrite E. constructor; auto; try lia.
      destruct B as [B|B]; [left; nia | auto].
    + right. rewrite E. destruct (Z.eq_dec k 1) as [->|K1].
      * inversion S; nia.
      * constructor; auto; try lia. destruct B as [B|B]; [nia | auto].
  - right. destruct B as [B|B]; [subst; destruct K; exists 1; lia|].
    apply (stuck_here f D q n); auto.
    assert (q <> n) by (intros ->; apply K; exists 1; lia). lia.
Qed.

Theorem runs_not_stuck : forall f D n rs, runs f D n rs -> stuck f D n -> False.
Proof.
  intros f D n rs H. induction H as [|D q n rs Q N L B R IH]; intros S.
  - inversion S; nia.
  - inversion S as [? q' ? Q' L' B' V|? q' n' Q' N' L' B' S' E]; subst.
    + assert (q = q').
      { destruct (Z.lt_trichotomy q q') as [G|[G|G]]; auto; exfalso.
        - destruct B as [B|B]; [subst; nia|]. apply B. apply L'. lia.
        - apply B'. apply L. lia. }
      subst q'. apply V. exists n. lia.
    + assert (q = q').
      { destruct (Z.lt_trichotomy q q') as [G|[G|G]]; auto; exfalso.
        - destruct B as [B|B]; [subst; nia|]. apply B. apply L'. lia.
        - apply B'. apply L. lia. }
      subst q'. assert (n' = n) by nia. subst n'. auto.
Qed.

(** Runs are the digits of the mode. *)
Lemma runs_dot : forall f D n rs c, runs f D n rs -> inside rs c -> dot rs c = D * index rs c.
Proof.
  intros f D n rs c H. revert c. induction H as [|D q n rs Q N L B R IH]; intros c I.
  - inversion I. simpl. lia.
  - destruct (inside_cons_inv _ _ _ I) as (x & r & -> & X & I'). simpl. rewrite IH; auto. lia.
Qed.

(** The modes of runs, each with the value of its first step. *)
Definition candidate (f : Z -> Z) (rs : modes) : modes :=
  map (fun m => Mode (extent m) (f (stride m))) rs.

Lemma candidate_shape : forall f rs,
  positive rs -> positive (candidate f rs) /\ size (candidate f rs) = size rs.
Proof. induction 1; simpl; split; try constructor; simpl; try tauto; intuition lia. Qed.

Lemma candidate_inside : forall f rs c, inside (candidate f rs) c <-> inside rs c.
Proof.
  intros f. induction rs as [|m rs IH]; intros c; simpl; [tauto|]. split; intros I;
    destruct (inside_cons_inv _ _ _ I) as (x & r & -> & X & R); constructor; auto; apply IH; auto.
Qed.

Lemma candidate_index : forall f rs c, index (candidate f rs) c = index rs c.
Proof. intros f. induction rs; intros [|x c]; simpl; auto. rewrite IHrs. reflexivity. Qed.

Lemma candidate_app : forall f a b, candidate f (a ++ b) = candidate f a ++ candidate f b.
Proof. intros. apply map_app. Qed.

(** A reduced list of modes that has the values of [f] is what its runs make. *)
Theorem runs_of_values : forall f r D,
  reduced r -> (forall x, 0 <= x < size r -> f (D * x) = value r x) ->
  exists rs, runs f D (size r) rs /\ candidate f rs = r.
Proof.
  intros f r. induction r as [|m r IH]; intros D R V; [exists []; split; constructor|].
  assert (R' := reduced_tail _ _ R). pose proof (reduced_positive _ R) as P. inversion_clear P as [|? ? M P'].
  destruct (reduced_size _ _ R) as (S & S').
  assert (1 <= size r) by (apply size_positive; auto).
  assert (M2 : 2 <= extent m) by (destruct R as (E & _); inversion_clear E; auto).
  assert (F : f D = stride m).
  { rewrite <- (Z.mul_1_r D), V by lia. apply value_first; auto. }
  destruct (IH (D * extent m) R') as (rs & RS & C).
  { intros x X. rewrite <- Z.mul_assoc, V by (simpl; nia). apply value_rest; auto. }
  exists (Mode (extent m) D :: rs). split.
  - simpl. constructor; auto.
    + intros c B. rewrite V, F by (simpl; nia). apply reduced_line; auto.
    + destruct r as [|m' r]; [left; reflexivity | right].
      rewrite V, F by (destruct (reduced_size _ _ R'); simpl in *; nia).
      apply reduced_break; auto. discriminate.
  - simpl. rewrite C, F. destruct m; reflexivity.
Qed.
