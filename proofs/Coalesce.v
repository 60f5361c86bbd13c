(** Coalescing: the same map in the fewest modes.

    What is proved:
    - [coalesce_value]: the coalesced modes have the same value at every index below the size;
    - [coalesce_size]: they have the same size;
    - [reduced_unique]: modes of extent 2 and more of which none goes on where the one before ends are
      determined by their size and their values;
    - [coalesce_minimal]: no other modes of the same size and values are fewer;
    - [coalesce_decides]: two lists of modes are one map if and only if they coalesce to one list;
    - [coalesce_extended_value]: the form that keeps a last mode of extent 1 has the same value at every
      index, also below 0 and beyond the size, where the last mode runs on.

    Not here: coalescing below each leaf of a profile, which is this one on parts of the modes.

    Rust: crates/tilewright-core/src/algebra/coalesce.rs. *)

From Coq Require Import ZArith List Lia Bool.
From Tilewright Require Import Layout.
Import ListNotations.
Open Scope Z_scope.

(** Merges modes into the one before them; [extended] keeps a last mode of extent 1 that the mode
    before does not run on into. *)
Fixpoint merge_into (extended : bool) (a : mode) (ms : modes) : modes :=
  match ms with
  | [] => [a]
  | m :: rest =>
      if extent a * stride a =? stride m
      then merge_into extended (Mode (extent a * extent m) (stride a)) rest
      else if (1 <? extent m) || (extended && match rest with [] => true | _ => false end)
      then a :: merge_into extended m rest
      else merge_into extended a rest
  end.

Fixpoint merge (extended : bool) (ms : modes) : modes :=
  match ms with
  | [] => []
  | m :: rest =>
      if (1 <? extent m) || (extended && match rest with [] => true | _ => false end)
      then merge_into extended m rest
      else merge extended rest
  end.

Definition coalesce_with (extended : bool) (ms : modes) : modes :=
  if existsb (fun m => extent m =? 0) ms then [Mode 0 0]
  else match merge extended ms with [] => [Mode 1 0] | merged => merged end.

Definition coalesce := coalesce_with false.
Definition coalesce_extended := coalesce_with true.

(** No mode goes on where the one before it ends. *)
Fixpoint separate (ms : modes) : Prop :=
  match ms with
  | m :: ((m' :: _) as rest) => extent m * stride m <> stride m' /\ separate rest
  | _ => True
  end.

Definition reduced (ms : modes) := Forall (fun m => 2 <= extent m) ms /\ separate ms.

(** ** Values *)

Lemma value_step : forall m ms x,
  1 <= extent m -> ms <> [] \/ 0 <= x < size (m :: ms) ->
  value (m :: ms) x = x mod extent m * stride m + value ms (x / extent m).
Proof.
  intros m ms x E [N|B]; [|apply value_cons; auto].
  destruct ms; [congruence | reflexivity].
Qed.

Lemma two_digits : forall x e f d,
  1 <= e -> 1 <= f -> x mod (e * f) * d = x mod e * d + (x / e) mod f * (e * d).
Proof. intros. rewrite Z.rem_mul_r by lia. lia. Qed.

Lemma dropped : forall m b, 1 <= extent m -> (1 <? extent m) || b = false -> extent m = 1.
Proof. intros m b M K. apply orb_false_iff in K. destruct K as (K & _). apply Z.ltb_ge in K. lia. Qed.

Lemma merge_into_size : forall b ms a,
  positive (a :: ms) -> size (merge_into b a ms) = size (a :: ms).
Proof.
  intros b ms. induction ms as [|m rest IH]; intros a P; simpl; [reflexivity|].
  inversion_clear P as [|? ? A Q]. inversion_clear Q as [|? ? M R].
  destruct (Z.eqb_spec (extent a * stride a) (stride m)).
  - rewrite IH by (constructor; simpl; auto; nia). simpl. lia.
  - destruct (_ || _) eqn:K; simpl; rewrite IH by (constructor; auto); simpl; [lia|].
    rewrite (dropped _ _ M K). lia.
Qed.

Lemma merge_size : forall b ms, positive ms -> size (merge b ms) = size ms.
Proof.
  intros b ms P. induction P as [|m rest M R IH]; [reflexivity|]. simpl.
  destruct (_ || _) eqn:K; simpl.
  - rewrite merge_into_size by (constructor; auto). reflexivity.
  - rewrite IH, (dropped _ _ M K). lia.
Qed.

(** Where the modes run on, or below their size. *)
Definition legal (extended : bool) (ms : modes) (x : Z) := extended = true \/ 0 <= x < size ms.

Lemma legal_rest : forall b m ms x,
  positive (m :: ms) -> legal b (m :: ms) x -> legal b ms (x / extent m).
Proof.
  intros b m ms x P [L|L]; [left; auto|right]. inversion_clear P.
  apply quotient_range; auto.
Qed.

Lemma merge_into_not_nil : forall b ms a, merge_into b a ms <> [].
Proof.
  intros b ms. induction ms as [|m rest IH]; intros a; simpl; [discriminate|].
  destruct (_ =? _); auto. destruct (_ || _); auto. discriminate.
Qed.

Lemma merge_into_value : forall b ms a x,
  positive (a :: ms) -> legal b (a :: ms) x -> value (merge_into b a ms) x = value (a :: ms) x.
Proof.
  intros b ms. induction ms as [|m rest IH]; intros a x P L; [reflexivity|].
  assert (LR := legal_rest _ _ _ _ P L).
  inversion_clear P as [|? ? A Q]. inversion_clear Q as [|? ? M R].
  assert (V : value (a :: m :: rest) x = x mod extent a * stride a + value (m :: rest) (x / extent a))
    by reflexivity.
  simpl merge_into.
  destruct (Z.eqb_spec (extent a * stride a) (stride m)) as [C|C].
  - rewrite IH.
    2: constructor; simpl; auto; nia.
    2: unfold legal in *; destruct L as [L|L]; [left; auto | right; simpl in *; lia].
    rewrite V. destruct rest as [|m' rest].
    + simpl. rewrite <- C. pose proof (Z.div_mod x (extent a)). nia.
    + rewrite (value_step (Mode _ _)) by (simpl; try nia; left; discriminate).
      rewrite (value_step m) by (simpl; try nia; left; discriminate). simpl extent. simpl stride.
      rewrite two_digits, Z.div_div, C by lia. lia.
  - destruct ((1 <? extent m) || _) eqn:K.
    + rewrite value_step.
      * rewrite IH by (auto; constructor; auto). auto.
      * auto.
      * left. apply merge_into_not_nil.
    + apply orb_false_iff in K. destruct K as (K1 & K2). apply Z.ltb_ge in K1.
      assert (E : extent m = 1) by lia.
      assert (N : value (a :: rest) x = value (a :: m :: rest) x).
      { rewrite V. destruct rest as [|m' rest].
        - destruct L as [L|L]; [subst b; discriminate|]. simpl in L. simpl.
          rewrite E in L. rewrite Z.mod_small, Z.div_small by lia. lia.
        - rewrite (value_step a), (value_step m) by (try lia; left; discriminate).
          rewrite E, Z.mod_1_r, Z.div_1_r. lia. }
      rewrite <- N. apply IH.
      * constructor; auto.
      * unfold legal in *. destruct L as [L|L]; [left; auto | right; simpl in *; nia].
Qed.

Lemma merge_value : forall b ms x, positive ms -> legal b ms x -> value (merge b ms) x = value ms x.
Proof.
  intros b ms x P. revert x. induction P as [|m rest M R IH]; intros x L; [reflexivity|].
  simpl merge.
  destruct ((1 <? extent m) || _) eqn:K.
  - apply merge_into_value; auto. constructor; auto.
  - apply orb_false_iff in K. destruct K as (K1 & K2). apply Z.ltb_ge in K1.
    assert (E : extent m = 1) by lia.
    rewrite IH by (unfold legal in *; destruct L as [L|L]; [left; auto | right; simpl in *; nia]).
    destruct rest as [|m' rest].
    + destruct L as [L|L]; [subst b; discriminate|]. simpl in *.
      assert (x = 0) by nia. subst x. reflexivity.
    + rewrite (value_step m) by (try lia; left; discriminate).
      rewrite E, Z.mod_1_r, Z.div_1_r. lia.
Qed.

Lemma no_zero_extent : forall ms,
  Forall (fun m => 0 <= extent m) ms ->
  existsb (fun m => extent m =? 0) ms = false -> positive ms.
Proof.
  induction 1; intros N; constructor; simpl in N; apply orb_false_iff in N; destruct N as (N & K).
  - apply Z.eqb_neq in N. lia.
  - apply IHForall; auto.
Qed.

Lemma zero_extent : forall ms, existsb (fun m => extent m =? 0) ms = true -> size ms = 0.
Proof.
  induction ms; simpl; [discriminate|]. intros H. apply orb_true_iff in H.
  destruct H as [H|H]; [apply Z.eqb_eq in H | apply IHms in H]; rewrite H; lia.
Qed.

Theorem coalesce_size : forall ms,
  Forall (fun m => 0 <= extent m) ms -> size (coalesce ms) = size ms.
Proof.
  intros ms H. unfold coalesce, coalesce_with.
  destruct (existsb _ ms) eqn:Z.
  - rewrite (zero_extent _ Z). reflexivity.
  - apply no_zero_extent in Z; auto. rewrite <- (merge_size false ms) by auto.
    destruct (merge false ms); reflexivity.
Qed.

Theorem coalesce_value : forall ms x,
  Forall (fun m => 0 <= extent m) ms -> 0 <= x < size ms -> value (coalesce ms) x = value ms x.
Proof.
  intros ms x H B. unfold coalesce, coalesce_with.
  destruct (existsb _ ms) eqn:Z.
  - rewrite (zero_extent _ Z) in B. lia.
  - apply no_zero_extent in Z; auto.
    rewrite <- (merge_value false ms) by (auto; right; auto).
    destruct (merge false ms) eqn:M; [|reflexivity].
    rewrite <- (merge_size false ms), M in B by auto. simpl in *.
    assert (x = 0) by lia. subst. reflexivity.
Qed.

(** For modes with one coordinate at least; those of none have no value. *)
Theorem coalesce_extended_value : forall ms x,
  positive ms -> value (coalesce_extended ms) x = value ms x.
Proof.
  intros ms x P. unfold coalesce_extended, coalesce_with.
  destruct (existsb _ ms) eqn:E.
  - exfalso. apply zero_extent in E. apply size_positive in P. lia.
  - rewrite <- (merge_value true ms) by (auto; left; auto).
    destruct (merge true ms); [simpl; lia | reflexivity].
Qed.

(** Coalesced modes that keep a last extent of 1 still have no two neighbours that chain. *)
Lemma merge_into_head : forall b ms a,
  exists e l, merge_into b a ms = Mode e (stride a) :: l.
Proof.
  intros b ms. induction ms as [|m rest IH]; intros [e d]; simpl.
  - exists e, []. reflexivity.
  - destruct (_ =? _); [apply (IH (Mode (e * extent m) d)) |]. destruct (_ || _); [|apply IH].
    exists e, (merge_into b m rest). reflexivity.
Qed.

Lemma merge_into_separate : forall b ms a, separate (merge_into b a ms).
Proof.
  intros b ms. induction ms as [|m rest IH]; intros a; simpl; auto.
  destruct (Z.eqb_spec (extent a * stride a) (stride m)); [apply IH|].
  destruct (_ || _); [|apply IH].
  specialize (IH m). destruct (merge_into_head b rest m) as (e & l & H). rewrite H in *.
  simpl. auto.
Qed.

Lemma merge_separate : forall b ms, separate (merge b ms).
Proof.
  intros b ms. induction ms as [|m rest IH]; simpl; auto.
  destruct (_ || _); auto using merge_into_separate.
Qed.

Theorem coalesce_extended_separate : forall ms, separate (coalesce_extended ms).
Proof.
  intros ms. unfold coalesce_extended, coalesce_with.
  destruct (existsb _ ms); [exact I|].
  pose proof (merge_separate true ms). destruct (merge true ms); [exact I|auto].
Qed.

(** ** The fewest modes *)

Lemma merge_into_extents : forall ms a,
  positive ms -> 2 <= extent a -> Forall (fun m => 2 <= extent m) (merge_into false a ms).
Proof.
  intros ms a P. revert a. induction P as [|m rest M R IH]; intros a A; simpl; [repeat constructor; auto|].
  destruct (_ =? _); [apply IH; simpl; nia|].
  destruct (1 <? extent m) eqn:L; simpl; [|auto].
  apply Z.ltb_lt in L. constructor; auto. apply IH. lia.
Qed.

Lemma merge_reduced : forall ms, positive ms -> reduced (merge false ms).
Proof.
  intros ms P. split; [|apply merge_separate].
  induction P as [|m rest M R IH]; simpl; [constructor|].
  destruct (1 <? extent m) eqn:L; simpl; auto.
  apply Z.ltb_lt in L. apply merge_into_extents; auto. lia.
Qed.

Lemma reduced_positive : forall ms, reduced ms -> positive ms.
Proof. intros ms (E & _). eapply Forall_impl; [|exact E]. simpl; intros; lia. Qed.

Lemma reduced_tail : forall m ms, reduced (m :: ms) -> reduced ms.
Proof.
  intros m ms (E & S). inversion_clear E. split; auto. destruct ms; simpl in *; tauto.
Qed.

Lemma value_first : forall m ms, 2 <= extent m -> positive ms -> value (m :: ms) 1 = stride m.
Proof.
  intros m ms E P. apply size_positive in P.
  rewrite value_cons by (simpl; nia). rewrite Z.mod_small, Z.div_small, value_zero by lia. lia.
Qed.

Lemma value_rest : forall m ms y,
  1 <= extent m -> 0 <= y < size ms -> value (m :: ms) (extent m * y) = value ms y.
Proof.
  intros m ms y E B. rewrite value_cons by (simpl; nia).
  replace (extent m * y) with (0 + extent m * y) by lia.
  rewrite digit_mod, digit_div by lia. lia.
Qed.

(** A reduced list of modes is linear up to its first extent and no further. *)
Lemma reduced_break : forall m ms,
  reduced (m :: ms) -> ms <> [] -> value (m :: ms) (extent m) <> extent m * stride m.
Proof.
  intros m [|m' ms] R N; [congruence|].
  assert (R' := reduced_tail _ _ R). destruct R as (E & S). inversion_clear E.
  destruct R' as (E' & S'). inversion_clear E'. destruct S as (S & _).
  assert (P : positive ms) by (eapply Forall_impl; [|eassumption]; simpl; intros; lia).
  assert (1 <= size ms) by (apply size_positive; auto).
  replace (extent m) with (extent m * 1) at 1 by lia.
  rewrite value_rest by (simpl; nia). rewrite value_first; auto.
Qed.

Lemma reduced_line : forall m ms c,
  reduced (m :: ms) -> 0 <= c < extent m -> value (m :: ms) c = c * stride m.
Proof.
  intros m ms c R B. pose proof (reduced_positive _ R) as P. inversion_clear P.
  assert (1 <= size ms) by (apply size_positive; auto).
  rewrite value_cons by (simpl; nia). rewrite Z.mod_small, Z.div_small, value_zero by lia. lia.
Qed.

Lemma reduced_size : forall m ms, reduced (m :: ms) -> 2 <= size (m :: ms) /\ extent m <= size (m :: ms).
Proof.
  intros m ms R. pose proof (reduced_positive _ R) as P. destruct R as (E & _).
  inversion_clear E. inversion_clear P. assert (1 <= size ms) by (apply size_positive; auto).
  simpl. nia.
Qed.

(** The first extent of one is no shorter than that of the other. *)
Lemma reduced_first : forall m a n b,
  reduced (m :: a) -> reduced (n :: b) -> size (m :: a) = size (n :: b) -> stride m = stride n ->
  (forall x, 0 <= x < size (m :: a) -> value (m :: a) x = value (n :: b) x) ->
  extent n <= extent m.
Proof.
  intros m a n b RA RB S D V.
  destruct (Z_le_gt_dec (extent n) (extent m)) as [|G]; auto. exfalso.
  destruct (reduced_size _ _ RA) as (A1 & A2). destruct (reduced_size _ _ RB) as (B1 & B2).
  destruct a as [|m' a].
  - replace (size [m]) with (extent m) in * by (simpl; lia). lia.
  - apply (reduced_break m (m' :: a)); [auto | discriminate|].
    destruct RA as (E & _). inversion E; subst.
    rewrite V by lia. rewrite reduced_line by (auto; lia). congruence.
Qed.

Theorem reduced_unique : forall a b,
  reduced a -> reduced b -> size a = size b ->
  (forall x, 0 <= x < size a -> value a x = value b x) -> a = b.
Proof.
  induction a as [|m a IH]; intros [|n b] RA RB S V; auto.
  - destruct (reduced_size _ _ RB). change (size []) with 1 in S. lia.
  - destruct (reduced_size _ _ RA). change (size []) with 1 in S. lia.
  - pose proof (reduced_positive _ RA) as PA. pose proof (reduced_positive _ RB) as PB.
    destruct (reduced_size _ _ RA) as (A1 & A2).
    assert (D : stride m = stride n).
    { assert (H := V 1 ltac:(lia)).
      destruct RA as (EA & _), RB as (EB & _).
      inversion_clear PA. inversion_clear PB. inversion_clear EA. inversion_clear EB.
      rewrite 2 value_first in H; auto. }
    assert (extent n <= extent m) by (eapply reduced_first; eauto).
    assert (extent m <= extent n).
    { eapply (reduced_first n b m a); eauto. intros. symmetry. apply V. lia. }
    assert (m = n) by (destruct m, n; simpl in *; f_equal; lia). subst n.
    inversion_clear PA. inversion_clear PB.
    assert (size a = size b) by (simpl in S; nia).
    f_equal. apply IH; eauto using reduced_tail.
    intros y Y. assert (E := V (extent m * y)).
    rewrite 2 value_rest in E by lia. apply E. simpl. nia.
Qed.

Lemma merge_into_length : forall ms a, (length (merge_into false a ms) <= S (length ms))%nat.
Proof.
  induction ms as [|m rest IH]; intros a; simpl; auto.
  destruct (_ =? _); [specialize (IH (Mode (extent a * extent m) (stride a))); lia|].
  destruct (_ || _); simpl; [specialize (IH m) | specialize (IH a)]; lia.
Qed.

Lemma merge_length : forall ms, (length (merge false ms) <= length ms)%nat.
Proof.
  induction ms as [|m rest IH]; simpl; auto.
  destruct (_ || _); [apply merge_into_length | lia].
Qed.

(** The same size, and the same values below it. *)
Definition same_map (a b : modes) :=
  size a = size b /\ forall x, 0 <= x < size a -> value a x = value b x.

Lemma same_map_merge : forall a b,
  positive a -> positive b -> same_map a b -> merge false a = merge false b.
Proof.
  intros a b PA PB (S & V). apply reduced_unique; auto using merge_reduced.
  - rewrite 2 merge_size; auto.
  - rewrite merge_size by auto. intros x B.
    rewrite 2 merge_value by (auto; right; lia). auto.
Qed.

Lemma size_zero_inv : forall ms,
  Forall (fun m => 0 <= extent m) ms -> size ms = 0 -> existsb (fun m => extent m =? 0) ms = true.
Proof.
  intros ms H Z. destruct (existsb _ ms) eqn:E; auto.
  apply no_zero_extent in E; auto. apply size_positive in E. lia.
Qed.

Theorem coalesce_decides : forall a b,
  Forall (fun m => 0 <= extent m) a -> Forall (fun m => 0 <= extent m) b ->
  (same_map a b <-> coalesce a = coalesce b).
Proof.
  intros a b A B. split.
  - intros S. unfold coalesce, coalesce_with.
    destruct (existsb _ a) eqn:ZA.
    + destruct S as (S & _). rewrite (zero_extent _ ZA) in S.
      rewrite (size_zero_inv b) by auto. reflexivity.
    + apply no_zero_extent in ZA; auto. destruct (existsb _ b) eqn:ZB.
      * destruct S as (S & _). rewrite (zero_extent _ ZB) in S. apply size_positive in ZA. lia.
      * apply no_zero_extent in ZB; auto. rewrite (same_map_merge a b); auto.
  - intros C. split.
    + rewrite <- (coalesce_size a), <- (coalesce_size b) by auto. congruence.
    + intros x X. rewrite <- (coalesce_value a), C by auto. apply coalesce_value; auto.
      rewrite <- (coalesce_size b), <- C, coalesce_size; auto.
Qed.

(** No modes, one or more, of the same size and values are fewer. *)
Theorem coalesce_minimal : forall a b,
  Forall (fun m => 0 <= extent m) a -> Forall (fun m => 0 <= extent m) b -> b <> [] ->
  same_map a b -> (length (coalesce a) <= length b)%nat.
Proof.
  intros a b A B N S. apply coalesce_decides in S; auto. rewrite S.
  assert (0 < length b)%nat by (destruct b; [congruence | simpl; lia]).
  pose proof (merge_length b). unfold coalesce, coalesce_with.
  destruct (existsb _ b); [simpl; lia|].
  destruct (merge false b); simpl in *; lia.
Qed.

(** A layout keeps its offset. *)
Theorem coalesce_layout : forall l x,
  Forall (fun m => 0 <= extent m) (parts l) -> 0 <= x < size (parts l) ->
  at_index (Layout (coalesce (parts l)) (offset l)) x = at_index l x.
Proof. intros. unfold at_index. simpl. rewrite coalesce_value; auto. Qed.
