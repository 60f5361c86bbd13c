(** Nullspace: the indices that reach the offset of index 0 by repeats alone.

    The nullspace of L has a mode for each mode of L of stride 0 and extent 2 and more, which steps over
    the index of that mode.

    What is proved:
    - [nullspace_law]: L at each of its indices has the value of L at 0, and lies below the size of L;
    - [nullspace_once]: no index is there twice;
    - [nullspace_whole]: it is every such index where the modes that move do not collide, strides of
      either sign, and where none of the strides is negative.

    Rust: crates/tilewright-core/src/algebra/right_inverse.rs. *)

From Coq Require Import ZArith List Lia Bool.
From Tilewright Require Import Layout Coalesce Complement RightInverse.
Import ListNotations.
Open Scope Z_scope.

Definition repeats (m : mode) : bool := (1 <? extent m) && (stride m =? 0).

Fixpoint nulls (p : Z) (ms : modes) : modes :=
  match ms with
  | [] => []
  | m :: rest => if repeats m then Mode (extent m) p :: nulls (p * extent m) rest
                 else nulls (p * extent m) rest
  end.

(** `1:0` where nothing repeats, as Rust has it. *)
Definition nullspace (l : modes) : modes := match nulls 1 l with [] => [Mode 1 0] | r => r end.

Lemma nulls_positive : forall ms p, positive (nulls p ms).
Proof.
  induction ms as [|m ms IH]; intros p; simpl; [constructor|].
  destruct (repeats m) eqn:R; [|apply IH]. constructor; [|apply IH].
  apply andb_true_iff in R. destruct R as (R & _). apply Z.ltb_lt in R. simpl. lia.
Qed.

(** A coordinate of L that is 0 but along repeats. *)
Definition still (ms : modes) (c : list Z) := Forall2 (fun m y => stride m = 0 \/ y = 0) ms c.

Lemma still_dot : forall ms c, still ms c -> dot ms c = 0.
Proof. induction 1 as [|m y ms c [Z|Z] S IH]; simpl; [reflexivity | rewrite Z, IH; lia..]. Qed.

Lemma nulls_still : forall ms p d,
  positive ms -> inside (nulls p ms) d ->
  exists c, inside ms c /\ still ms c /\ p * index ms c = dot (nulls p ms) d.
Proof.
  intros ms p d P. revert p d. induction P as [|m ms M P IH]; intros p d I; simpl in *.
  - inversion I. exists []. repeat split; try constructor. simpl. lia.
  - destruct (repeats m) eqn:R.
    + destruct (inside_cons_inv _ _ _ I) as (x & r & -> & X & I'). simpl in X.
      destruct (IH _ _ I') as (c & C & S & E). apply andb_true_iff in R. destruct R as (_ & R).
      apply Z.eqb_eq in R.
      exists (x :: c). repeat split; [constructor; auto | constructor; auto |]. simpl. lia.
    + destruct (IH _ _ I) as (c & C & S & E).
      exists (0 :: c). repeat split; [constructor; auto; lia | constructor; auto |]. simpl. lia.
Qed.

Lemma still_nulls : forall ms p c,
  inside ms c -> still ms c ->
  exists d, inside (nulls p ms) d /\ p * index ms c = dot (nulls p ms) d.
Proof.
  intros ms p c I. revert p. induction I as [|m y ms c Y I IH]; intros p S; simpl.
  - exists []. split; [constructor | simpl; lia].
  - inversion_clear S as [|? ? ? ? S1 S2]. destruct (IH (p * extent m) S2) as (d & D & E).
    destruct (repeats m) eqn:R.
    + exists (y :: d). split; [constructor; auto|]. simpl. lia.
    + exists d. split; auto. assert (y = 0); [|subst y; lia].
      destruct S1 as [Z|]; auto. apply andb_false_iff in R. destruct R as [R|R].
      * apply Z.ltb_ge in R. lia.
      * apply Z.eqb_neq in R. contradiction.
Qed.

Lemma nullspace_nulls : forall l i, 0 <= i < size (nullspace l) ->
  0 <= i < size (nulls 1 l) /\ value (nullspace l) i = value (nulls 1 l) i.
Proof.
  intros l i I. unfold nullspace in *. destruct (nulls 1 l); auto.
  simpl in *. lia.
Qed.

Theorem nullspace_law : forall l i,
  positive l -> 0 <= i < size (nullspace l) ->
  0 <= value (nullspace l) i < size l /\ value l (value (nullspace l) i) = value l 0.
Proof.
  intros l i P I. destruct (nullspace_nulls l i I) as (B & E). rewrite E.
  assert (N := nulls_positive l 1). rewrite value_digits by auto.
  destruct (nulls_still l 1 _ P (digits_inside _ _ N B)) as (c & C & S & D).
  rewrite <- D, Z.mul_1_l. split; [apply index_range; auto|].
  rewrite value_index, value_zero by auto. apply still_dot; auto.
Qed.

(** Steps over indices are a chain. *)
Lemma nulls_chain : forall ms p q,
  1 <= q <= p -> positive ms -> chain q (nulls p ms).
Proof.
  intros ms p q B P. revert p q B. induction P as [|m ms M P IH]; intros p q B; simpl; [exact I|].
  destruct (repeats m); simpl; [split; [lia|]|]; apply IH; nia.
Qed.

Theorem nullspace_once : forall l i j,
  positive l -> 0 <= i < size (nullspace l) -> 0 <= j < size (nullspace l) ->
  value (nullspace l) i = value (nullspace l) j -> i = j.
Proof.
  intros l i j P I J E.
  destruct (nullspace_nulls l i I) as (BI & EI). destruct (nullspace_nulls l j J) as (BJ & EJ).
  rewrite EI, EJ in E. assert (N := nulls_positive l 1). rewrite !value_digits in E by auto.
  apply (chain_injective (nulls 1 l) 1) in E; auto using digits_inside, nulls_chain; try lia.
  - apply (f_equal (index (nulls 1 l))) in E. rewrite !index_digits in E; auto.
  - apply nulls_chain; auto. lia.
Qed.

(** Coordinates of the modes that move. *)
Fixpoint moving (ms : modes) (c : list Z) : list Z :=
  match ms, c with
  | m :: ms', y :: c' => if moves m then y :: moving ms' c' else moving ms' c'
  | _, _ => []
  end.

Lemma moving_inside : forall ms c, inside ms c ->
  inside (filter moves ms) (moving ms c) /\ dot (filter moves ms) (moving ms c) = dot ms c.
Proof.
  induction 1 as [|m y ms c Y I (A & B)]; [split; constructor|]. cbn [filter moving].
  destruct (moves m) eqn:M; cbn [dot].
  - split; [constructor; auto | lia].
  - unfold moves in M. apply negb_false_iff, Z.eqb_eq in M. split; auto. rewrite B, M. lia.
Qed.

Lemma moving_still : forall ms c, inside ms c ->
  moving ms c = moving ms (map (fun _ => 0) ms) -> still ms c.
Proof.
  induction 1 as [|m y ms c Y I IH]; simpl; intros E; constructor.
  - unfold moves in E. destruct (Z.eqb_spec (stride m) 0); simpl in E; [auto|].
    right. congruence.
  - apply IH. destruct (moves m); congruence.
Qed.

Lemma forward_still : forall ms c, inside ms c ->
  Forall (fun m => 0 <= stride m) ms -> dot ms c = 0 -> still ms c.
Proof.
  intros ms c I F E.
  assert (G : 0 <= dot ms c /\ (dot ms c = 0 -> still ms c)); [|tauto]. clear E.
  revert F. induction I as [|m y ms c Y I IH]; intros F; simpl.
  - split; [lia | constructor].
  - inversion_clear F as [|? ? M F']. destruct (IH F') as (A & B). split; [nia|].
    intros E. constructor; [|apply B; nia].
    destruct (Z.eq_dec (stride m) 0); auto. right. nia.
Qed.

Theorem nullspace_whole : forall l x,
  positive l -> injective (filter moves l) \/ Forall (fun m => 0 <= stride m) l ->
  0 <= x < size l -> value l x = value l 0 ->
  exists i, 0 <= i < size (nullspace l) /\ value (nullspace l) i = x.
Proof.
  intros l x P H X E. rewrite value_zero, value_digits in E by auto.
  assert (D := digits_inside l x P X).
  assert (S : still l (digits l x)).
  { destruct H as [J|F]; [|apply forward_still; auto].
    apply moving_still; auto.
    assert (Z := inside_zeros l P). destruct (moving_inside l _ D) as (A & B).
    destruct (moving_inside l _ Z) as (A' & B').
    apply J; auto. rewrite B, B', E, dot_zeros. reflexivity. }
  destruct (still_nulls l 1 _ D S) as (d & I & V). rewrite index_digits in V by auto.
  assert (R := index_range _ _ I). assert (W := value_index _ _ I).
  exists (index (nulls 1 l) d).
  unfold nullspace. destruct (nulls 1 l) eqn:N.
  - inversion I; subst. simpl in *. lia.
  - split; auto. lia.
Qed.
