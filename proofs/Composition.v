(** Exact composition: when A of B is a layout, and which.

    A and B are layouts of positive extents, A of one mode at least, o is the offset of B. A composition
    has the brackets of B: for each mode of B a list of modes of as many coordinates. A is evaluated with
    its last mode running on; Rust refuses a B that reaches below 0, where no theorem here needs that.

    What is proved:
    - [candidate_differs]: for any steps D_m, A at o + sum of c_m * D_m differs from the sum that is
      linear in the digits c_m, with the value of each first step, by exactly the weighted carries: the
      sum over boundaries j of e_j * floor((rho_j + sum of c_m * sigma_mj) / P_j);
    - [composition_exact]: there is a composition if and only if every mode of B splits into runs and
      the weighted carries are 0 at every digit of the runs;
    - [composition_unique]: each part of every composition coalesces to the candidate, its offset is A(o);
    - [no_carry]: two sums a boundary are enough for the carries to be 0;
    - [carry_refutes], [stuck_refutes]: both kinds of refusal are right.

    Not here: that the walk and the search in Rust find such a carry within their budget.

    Rust: crates/tilewright-core/src/algebra/composition/mod.rs, search.rs. *)

From Coq Require Import ZArith List Lia.
From Tilewright Require Import Layout Coalesce Floor Runs.
Import ListNotations.
Open Scope Z_scope.

(** ** The law of composition *)

(** The value of a list of parts at one coordinate for each part. *)
Fixpoint values (parts : list modes) (c : list Z) : Z :=
  match parts, c with
  | r :: rest, x :: more => value r x + values rest more
  | _, _ => 0
  end.

Definition fits (b : mode) (r : modes) := positive r /\ size r = extent b.

(** [parts] with the offset [k] is A of B: for each mode of B modes of as many coordinates. *)
Definition composition (a b : layout) (rs : list modes) (k : Z) :=
  Forall2 fits (parts b) rs /\
  forall c, inside (parts b) c -> at_index a (offset b + dot (parts b) c) = k + values rs c.

Definition splits (f : Z -> Z) (b : mode) (rs : modes) := runs f (stride b) (extent b) rs.

Lemma splits_unique : forall f b r s,
  Forall2 (splits f) b r -> Forall2 (splits f) b s -> r = s.
Proof.
  intros f b r s H. revert s. induction H as [|m x b r X F IH]; intros s S; inversion S; subst; auto.
  f_equal; auto. eapply runs_unique; eauto.
Qed.

Lemma splits_not_stuck : forall f b r m,
  Forall2 (splits f) b r -> In m b -> stuck f (stride m) (extent m) -> False.
Proof.
  intros f b r m H. induction H as [|n x b r X F IH]; intros I S; [destruct I|].
  destruct I as [E|I]; [|auto]. subst n. exact (runs_not_stuck _ _ _ _ X S).
Qed.

Lemma values_zeros : forall rs, values rs (map (fun _ => 0) rs) = 0.
Proof. induction rs; simpl; auto. rewrite value_zero, IHrs. lia. Qed.

Lemma fits_zeros : forall b rs, Forall2 fits b rs -> map (fun _ => 0) rs = map (fun _ : mode => 0) b.
Proof. induction 1; simpl; congruence. Qed.

(** Digits of all runs are coordinates of B, and the other way round. *)
Lemma digits_to_coordinates : forall f b rs c,
  Forall2 (splits f) b rs -> inside (concat rs) c ->
  exists y, inside b y /\ dot b y = dot (concat rs) c /\
    values (map (candidate f) rs) y = dot (candidate f (concat rs)) c.
Proof.
  intros f b rs c H. revert c. induction H as [|m r b rs S F IH]; intros c I; simpl in *.
  - inversion I. exists []. repeat split; auto. constructor.
  - apply inside_app_inv in I. destruct I as (u & v & -> & U & V).
    destruct (IH v V) as (y & Y & Y1 & Y2).
    destruct (runs_shape _ _ _ _ S) as (P & Z).
    exists (index r u :: y). simpl. rewrite candidate_app, !dot_app by (auto; apply candidate_inside; auto).
    rewrite (runs_dot _ _ _ _ _ S U). repeat split; try lia.
    + constructor; auto. rewrite <- Z. apply index_range; auto.
    + rewrite Y2, <- (candidate_index f), value_index by (apply candidate_inside; auto). lia.
Qed.

Lemma coordinates_to_digits : forall f b rs y,
  Forall2 (splits f) b rs -> inside b y ->
  exists c, inside (concat rs) c /\ dot b y = dot (concat rs) c /\
    values (map (candidate f) rs) y = dot (candidate f (concat rs)) c.
Proof.
  intros f b rs y H. revert y. induction H as [|m r b rs S F IH]; intros y I; simpl in *.
  - inversion I. exists []. repeat split; auto. constructor.
  - destruct (inside_cons_inv _ _ _ I) as (x & v & -> & X & V).
    destruct (IH v V) as (c & C & C1 & C2).
    destruct (runs_shape _ _ _ _ S) as (P & Z). rewrite <- Z in X.
    assert (D := digits_inside r x P X).
    exists (digits r x ++ c). simpl. rewrite candidate_app, !dot_app by (auto; apply candidate_inside; auto).
    rewrite (runs_dot _ _ _ _ _ S D), index_digits by auto. repeat split; try lia.
    + apply inside_app; auto.
    + rewrite C2, <- (value_index (candidate f r)) by (apply candidate_inside; auto).
      rewrite candidate_index, index_digits by auto. lia.
Qed.

(** The parts of a map along the modes of B coalesce to the candidates of these modes. *)
Lemma parts_are_candidates : forall f b rs,
  Forall2 fits b rs -> (forall c, inside b c -> f (dot b c) = values rs c) ->
  exists runs, Forall2 (splits f) b runs /\
    Forall2 (fun r s => merge false r = candidate f s) rs runs.
Proof.
  intros f b rs H. induction H as [|m r b rs (P & S) F IH]; intros V.
  - exists []. split; constructor.
  - assert (PB : positive b).
    { clear - F. induction F as [|m r b rs (P & S) F IH]; constructor; auto.
      rewrite <- S. apply size_positive; auto. }
    assert (1 <= size r) by (apply size_positive; auto).
    destruct IH as (l & L1 & L2).
    { intros c I. assert (E := V (0 :: c)). simpl in E. rewrite value_zero in E.
      replace (0 * stride m + dot b c) with (dot b c) in E by lia. rewrite E; [lia|].
      constructor; auto. lia. }
    destruct (runs_of_values f (merge false r) (stride m)) as (s & R & C).
    + apply merge_reduced; auto.
    + rewrite merge_size by auto. intros x X.
      rewrite merge_value by (auto; right; auto).
      assert (E := V (x :: map (fun _ => 0) b)). simpl in E.
      rewrite <- (fits_zeros _ _ F), values_zeros, (fits_zeros _ _ F), dot_zeros in E.
      replace (stride m * x) with (x * stride m + 0) by lia. rewrite E; [lia|].
      constructor; [lia|]. apply inside_zeros; auto.
    + exists (s :: l). rewrite merge_size, S in R by auto. split; constructor; auto.
Qed.

Lemma values_of_candidates : forall f b rs runs c,
  Forall2 fits b rs -> Forall2 (fun r s => merge false r = candidate f s) rs runs -> inside b c ->
  values rs c = values (map (candidate f) runs) c.
Proof.
  intros f b rs runs c H. revert runs c. induction H as [|m r b rs (P & S) F IH]; intros l c E I.
  - inversion E. reflexivity.
  - inversion E as [|? s ? l' E1 E2]; subst. destruct (inside_cons_inv _ _ _ I) as (x & v & -> & X & V).
    simpl. rewrite (IH l') by auto. rewrite <- E1, merge_value by (auto; right; lia). reflexivity.
Qed.

(** ** A as jumps *)

Section Composed.

Variables (first : mode) (rest : modes) (o : Z).
Hypothesis legal : positive (first :: rest).

Let A := value (first :: rest).
Let js := jumps 1 first rest.

(** What A gains by the first step. *)
Definition gain (D : Z) : Z := A (o + D) - A o.

(** The residue of a step past a boundary, as the first step moves it. *)
Definition turn (p D : Z) : Z :=
  if p <=? o mod p + D mod p then D mod p - p else D mod p.

Definition turns (p : Z) (rs : modes) : modes :=
  map (fun m => Mode (extent m) (turn p (stride m))) rs.

(** The weighted carries. *)
Definition carries (rs : modes) (c : list Z) : Z :=
  weighed js (fun p => (o mod p + dot (turns p rs) c) / p).

Definition crossed (p D : Z) : Z := (o + D) / p - o / p.

Lemma turn_crossed : forall p D, 1 <= p -> D = p * crossed p D + turn p D.
Proof.
  intros p D P. unfold crossed, turn.
  pose proof (Z.div_mod o p ltac:(lia)). pose proof (Z.div_mod D p ltac:(lia)).
  pose proof (Z.mod_pos_bound o p ltac:(lia)). pose proof (Z.mod_pos_bound D p ltac:(lia)).
  destruct (Z.leb_spec p (o mod p + D mod p)).
  - rewrite <- (Z.div_unique_pos (o + D) p (o / p + D / p + 1) (o mod p + D mod p - p)) by lia. lia.
  - rewrite <- (Z.div_unique_pos (o + D) p (o / p + D / p) (o mod p + D mod p)) by lia. lia.
Qed.

Lemma turns_dot : forall p rs c, 1 <= p ->
  dot rs c = p * dot (candidate (crossed p) rs) c + dot (turns p rs) c.
Proof.
  intros p rs. induction rs as [|m rs IH]; intros [|x c] P; simpl; try lia.
  rewrite (IH c P) at 1. pose proof (turn_crossed p (stride m) P). nia.
Qed.

Lemma floor_of_sum : forall p rs c, 1 <= p ->
  (o + dot rs c) / p
  = o / p + dot (candidate (crossed p) rs) c + (o mod p + dot (turns p rs) c) / p.
Proof.
  intros p rs c P. rewrite (turns_dot p rs c P).
  pose proof (Z.div_mod o p ltac:(lia)).
  rewrite <- Z.div_add_l by lia. f_equal. lia.
Qed.

Lemma gain_jumps : forall D, gain D = stride first * D + weighed js (fun p => crossed p D).
Proof.
  intros D. unfold gain, A. rewrite !floor_identity by auto. fold js.
  rewrite (weighed_same js (fun p => (o + D) / p) (fun p => o / p + crossed p D)).
  - rewrite (weighed_add js (fun p => o / p) (fun p => crossed p D)). lia.
  - eapply Forall_impl; [|apply (boundaries_positive rest first 1); auto; lia].
    intros [p e] _. unfold crossed. simpl. lia.
Qed.

Lemma gain_dot : forall rs c,
  dot (candidate gain rs) c
  = stride first * dot rs c + weighed js (fun p => dot (candidate (crossed p) rs) c).
Proof.
  induction rs as [|m rs IH]; intros [|x c]; simpl;
    try (rewrite (weighed_same js _ (fun _ => 0 * 0)) by (apply Forall_forall; auto);
         rewrite weighed_scale; lia).
  rewrite IH, weighed_add, weighed_scale, gain_jumps. lia.
Qed.

Theorem candidate_differs : forall rs c,
  A (o + dot rs c) = A o + dot (candidate gain rs) c + carries rs c.
Proof.
  intros rs c. rewrite gain_dot. unfold A, carries. rewrite !floor_identity by auto. fold js.
  rewrite (weighed_same js (fun p => (o + dot rs c) / p)
    (fun p => o / p + dot (candidate (crossed p) rs) c + (o mod p + dot (turns p rs) c) / p)).
  - rewrite (weighed_add js (fun p => o / p + dot (candidate (crossed p) rs) c)
      (fun p => (o mod p + dot (turns p rs) c) / p)).
    rewrite (weighed_add js (fun p => o / p) (fun p => dot (candidate (crossed p) rs) c)). lia.
  - eapply Forall_impl; [|apply (boundaries_positive rest first 1); auto; lia].
    intros [p e] P. simpl in *. apply floor_of_sum; auto.
Qed.

End Composed.

(** ** The theorem *)

Section Exact.

Variables (first : mode) (rest : modes) (ka : Z) (b : layout).
Hypothesis legal_a : positive (first :: rest).
Hypothesis legal_b : positive (parts b).

Let a := Layout (first :: rest) ka.
Let o := offset b.
Let f := gain first rest o.

Lemma gain_zero : f 0 = 0.
Proof. unfold f, gain. rewrite Z.add_0_r. lia. Qed.

(** Every composition has the value of A at the offset of B as its offset, and parts that coalesce to
    the candidates. *)
Lemma composition_forced : forall rs k,
  composition a b rs k ->
  k = at_index a o /\
  exists runs, Forall2 (splits f) (parts b) runs /\
    Forall2 (fun r s => merge false r = candidate f s) rs runs.
Proof.
  intros rs k (F & V).
  assert (K : k = at_index a o).
  { assert (E := V (map (fun _ => 0) (parts b)) (inside_zeros _ legal_b)).
    rewrite dot_zeros, <- (fits_zeros _ _ F), values_zeros, !Z.add_0_r in E. auto. }
  split; auto. apply parts_are_candidates; auto.
  intros c I. assert (E := V c I). rewrite K in E. unfold f, gain.
  unfold at_index, a, o in *. cbn [offset parts] in E. lia.
Qed.

Theorem composition_unique : forall rs k rs' k',
  composition a b rs k -> composition a b rs' k' ->
  k = k' /\ Forall2 (fun r r' => merge false r = merge false r') rs rs'.
Proof.
  intros rs k rs' k' C C'.
  apply composition_forced in C. apply composition_forced in C'.
  destruct C as (K & l & L & M). destruct C' as (K' & l' & L' & M'). split; [congruence|].
  assert (l = l') by (eapply splits_unique; eauto).
  subst l'. clear - M M'. revert rs' M'.
  induction M; intros rs' M'; inversion M'; subst; constructor; auto. congruence.
Qed.

Theorem composition_exact :
  (exists rs k, composition a b rs k) <->
  (exists runs, Forall2 (splits f) (parts b) runs /\
    forall c, inside (concat runs) c -> carries first rest o (concat runs) c = 0).
Proof.
  split.
  - intros (rs & k & C). destruct (composition_forced _ _ C) as (K & l & L & M).
    exists l. split; auto. intros c I.
    destruct (digits_to_coordinates f _ _ _ L I) as (y & Y & Y1 & Y2).
    destruct C as (F & V). assert (E := V y Y).
    rewrite (values_of_candidates f _ _ _ _ F M Y), Y1, Y2, K in E.
    assert (D := candidate_differs first rest o legal_a (concat l) c). fold f in D.
    unfold at_index, a, o in *. cbn [offset parts] in E. lia.
  - intros (l & L & Z). exists (map (candidate f) l), (at_index a o). split.
    + clear - L. induction L as [|m s bs ss S F IH]; simpl; constructor; auto.
      destruct (runs_shape _ _ _ _ S) as (P & E). destruct (candidate_shape f _ P).
      split; congruence.
    + intros c I. destruct (coordinates_to_digits f _ _ _ L I) as (d & D & D1 & D2).
      rewrite D1, D2. assert (E := candidate_differs first rest o legal_a (concat l) d).
      rewrite (Z _ D) in E. fold f in E.
      unfold at_index, a, o in *. cbn [offset parts]. lia.
Qed.

(** A coordinate at which digits of the runs carry is a proof that there is none. *)
Theorem carry_refutes : forall runs c,
  Forall2 (splits f) (parts b) runs -> inside (concat runs) c ->
  carries first rest o (concat runs) c <> 0 -> ~ exists rs k, composition a b rs k.
Proof.
  intros l c L I N H. apply composition_exact in H. destruct H as (l' & L' & Z).
  assert (l = l') by (eapply splits_unique; eauto).
  subst. auto.
Qed.

(** So is a run that does not divide what is left of a mode. *)
Theorem stuck_refutes : forall m,
  In m (parts b) -> stuck f (stride m) (extent m) -> ~ exists rs k, composition a b rs k.
Proof.
  intros m I S H. apply composition_exact in H. destruct H as (l & L & _).
  eapply splits_not_stuck; eauto.
Qed.

(** ** Without a carry *)

Fixpoint highest (ms : modes) : Z :=
  match ms with
  | [] => 0
  | m :: rest => Z.max 0 ((extent m - 1) * stride m) + highest rest
  end.

Lemma dot_between : forall ms c, inside ms c -> lowest ms <= dot ms c <= highest ms.
Proof.
  induction 1 as [|[e d] x ms c X I IH]; simpl in *; [lia|].
  destruct (Z_le_gt_dec 0 d).
  - rewrite Z.min_l, Z.max_r by nia. nia.
  - rewrite Z.min_r, Z.max_l by nia. nia.
Qed.

(** No sum of turns leaves the range from 0 to the boundary. *)
Definition stays (rs : modes) (p : Z) :=
  0 <= o mod p + lowest (turns o p rs) /\ o mod p + highest (turns o p rs) < p.

Theorem no_carry : forall runs,
  Forall (fun j => stays (concat runs) (fst j)) (jumps 1 first rest) ->
  forall c, inside (concat runs) c -> carries first rest o (concat runs) c = 0.
Proof.
  intros l S c I. unfold carries.
  rewrite (weighed_same _ _ (fun _ => 0 * 0)); [rewrite weighed_scale; lia|].
  eapply Forall_impl; [|exact S]. intros [p e] (Low & High). simpl in *.
  assert (T : inside (turns o p (concat l)) c).
  { clear - I. revert c I. induction (concat l); intros c I; [inversion I; constructor|].
    destruct (inside_cons_inv _ _ _ I) as (x & r & -> & X & R).
    constructor; [exact X | exact (IHl0 _ R)]. }
  apply dot_between in T. rewrite Z.div_small; lia.
Qed.

End Exact.
