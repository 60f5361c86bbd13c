(** Right inverse: indices from offsets.

    L has positive extents and strides of either sign; offsets are counted from its smallest one. A right
    inverse R satisfies L(R(i)) = i for every i below its size. The one by whole modes is a chain: a mode
    of stride 1, then one whose stride is the product of the extents before it, and so on; R steps over
    the index of each, and begins at the index of the smallest offset.

    What is proved:
    - [follows_exists]: every list of modes has a chain that goes on while it can;
    - [right_inverse_law]: L(R(i)) = i for every i below the size of R, for every such chain;
    - [right_inverse_longest]: where the modes that move never collide, no offset at the size of R is
      reached at all, so no map R, a layout or not, of a larger size has the law.

    Not here: the search of Rust where modes overlap (longest.rs).

    Rust: crates/tilewright-core/src/algebra/right_inverse.rs. *)

From Coq Require Import ZArith List Lia Permutation.
From Tilewright Require Import Layout Coalesce Complement.
Import ListNotations.
Open Scope Z_scope.

(** Each mode with the index it steps over. *)
Fixpoint indexed (p : Z) (ms : modes) : list (mode * Z) :=
  match ms with
  | [] => []
  | m :: rest => (m, p) :: indexed (p * extent m) rest
  end.

(** The index of the coordinate of the smallest offset. *)
Fixpoint origin (p : Z) (ms : modes) : Z :=
  match ms with
  | [] => 0
  | m :: rest => (if stride m <? 0 then (extent m - 1) * p else 0) + origin (p * extent m) rest
  end.

(** How the index changes where the offset goes up. *)
Definition step_up (m : mode) (p : Z) : Z := if stride m <? 0 then - p else p.

(** [follows im cur r last]: [r] are the modes of an inverse that begins at the stride [cur], takes each
    mode of [im] once at most and those of extent 2 and more only, and ends at [last], where none of
    what is left goes on. *)
Inductive follows : list (mode * Z) -> Z -> modes -> Z -> Prop :=
| follows_end : forall im cur,
    (forall m p, In (m, p) im -> 1 < extent m -> Z.abs (stride m) <> cur) ->
    follows im cur [] cur
| follows_next : forall im left cur m p r last,
    Permutation im ((m, p) :: left) -> 1 < extent m -> Z.abs (stride m) = cur ->
    follows left (cur * extent m) r last ->
    follows im cur (Mode (extent m) (step_up m p) :: r) last.

Lemma follows_size : forall im cur r last,
  follows im cur r last -> last = cur * size r /\ positive r.
Proof.
  induction 1 as [im cur N | im left cur m p r last I E S F (H & P)].
  - split; [simpl; lia | constructor].
  - simpl. split; [lia|]. constructor; auto. simpl. lia.
Qed.

Lemma continues_or_not : forall im cur,
  (exists (m : mode) (p : Z), In (m, p) im /\ 1 < extent m /\ Z.abs (stride m) = cur) \/
  (forall (m : mode) (p : Z), In (m, p) im -> 1 < extent m -> Z.abs (stride m) <> cur).
Proof.
  intros im cur. induction im as [|[n q] im IH]; [right; simpl; tauto|].
  destruct IH as [(m & p & I & E & S)|N].
  - left. exists m, p. simpl. auto.
  - destruct (Z_lt_dec 1 (extent n)) as [E|E]; [destruct (Z.eq_dec (Z.abs (stride n)) cur) as [S|S]|].
    + left. exists n, q. simpl. auto.
    + right. intros m p [I|I]; [inversion I; subst; auto | eauto].
    + right. intros m p [I|I]; [inversion I; subst; lia | eauto].
Qed.

Theorem follows_exists : forall im cur, exists r last, follows im cur r last.
Proof.
  intros im. remember (length im) as k eqn:K. revert im K.
  induction k as [|k IH]; intros im K cur.
  - exists [], cur. constructor. destruct im; [simpl; tauto | discriminate].
  - destruct (continues_or_not im cur) as [(m & p & I & E & S)|N].
    + apply in_split in I. destruct I as (a & b & ->).
      destruct (IH (a ++ b)) with (cur := cur * extent m) as (r & last & F).
      { rewrite app_length in *. simpl in K. lia. }
      exists (Mode (extent m) (step_up m p) :: r), last.
      apply (follows_next _ (a ++ b)); auto. symmetry. apply Permutation_middle.
    + exists [], cur. constructor. auto.
Qed.

(** ** The law *)

(** The coordinate of the smallest offset. *)
Definition low (m : mode) : Z := if stride m <? 0 then extent m - 1 else 0.

Lemma low_inside : forall ms, positive ms -> inside ms (map low ms).
Proof. induction 1; simpl; constructor; auto. unfold low. destruct (_ <? _); lia. Qed.

Lemma low_dot : forall ms, positive ms -> dot ms (map low ms) = lowest ms.
Proof.
  induction 1 as [|m ms M P IH]; simpl; [reflexivity|]. rewrite IH. unfold low.
  destruct (Z.ltb_spec (stride m) 0); [rewrite Z.min_r by nia | rewrite Z.min_l by nia]; lia.
Qed.

Lemma low_index : forall ms p, p * index ms (map low ms) = origin p ms.
Proof.
  induction ms as [|m ms IH]; intros p; simpl; [lia|].
  rewrite <- IH. unfold low. destruct (_ <? _); lia.
Qed.

(** The modes of strides of size [w] and more stand at their smallest offset. *)
Definition rests (w : Z) (ms : modes) (c : list Z) :=
  Forall2 (fun m y => w <= Z.abs (stride m) -> y = low m) ms c.

Lemma rests_less : forall w w' ms c, w <= w' -> rests w ms c -> rests w' ms c.
Proof. intros w w' ms c L R. induction R; constructor; auto. intros. apply H. lia. Qed.

(** One digit set: the offset goes up, and the index by its step. *)
Lemma set_digit : forall ms p0 m p c x w w',
  In (m, p) (indexed p0 ms) -> inside ms c -> rests w ms c ->
  w <= Z.abs (stride m) < w' -> 0 <= x < extent m ->
  exists c', inside ms c' /\ rests w' ms c' /\
    dot ms c' = dot ms c + x * Z.abs (stride m) /\
    p0 * index ms c' = p0 * index ms c + x * step_up m p.
Proof.
  induction ms as [|n ms IH]; intros p0 m p c x w w' I C R W X; simpl in I; [tauto|].
  destruct (inside_cons_inv _ _ _ C) as (y & r & -> & Y & C').
  inversion R as [|? ? ? ? R1 R2]; subst. destruct I as [I|I].
  - inversion I; subst n p0. specialize (R1 ltac:(lia)).
    exists ((if stride m <? 0 then extent m - 1 - x else x) :: r).
    unfold low in R1. unfold step_up. simpl.
    destruct (Z.ltb_spec (stride m) 0).
    + repeat split; [constructor; auto; lia | | rewrite Z.abs_neq by lia; subst y; lia | subst y; lia].
      constructor; [intros; lia|]. apply (rests_less w); auto; lia.
    + repeat split; [constructor; auto; lia | | rewrite Z.abs_eq by lia; subst y; lia | subst y; lia].
      constructor; [intros; lia|]. apply (rests_less w); auto; lia.
  - destruct (IH (p0 * extent n) m p r x w w' I C' R2 W X) as (r' & A & B & D & E).
    exists (y :: r'). repeat split.
    + constructor; auto.
    + constructor; auto. intros. apply R1. lia.
    + simpl. lia.
    + simpl. lia.
Qed.

Lemma follows_sets : forall ms im cur r last,
  follows im cur r last -> incl im (indexed 1 ms) -> 1 <= cur ->
  forall c d, inside ms c -> rests cur ms c -> inside r d ->
  exists c', inside ms c' /\ dot ms c' = dot ms c + cur * index r d /\
    index ms c' = index ms c + dot r d.
Proof.
  intros ms im cur r last F.
  induction F as [im cur N | im left cur m p r last I E S F IH]; intros L B c d C R D.
  - inversion D; subst. exists c. simpl. repeat split; auto; lia.
  - destruct (inside_cons_inv _ _ _ D) as (x & t & -> & X & T).
    assert (M : In (m, p) (indexed 1 ms)).
    { apply L. apply (Permutation_in _ (Permutation_sym I)). left. reflexivity. }
    assert (W : cur <= Z.abs (stride m) < cur * extent m) by nia.
    destruct (set_digit ms 1 m p c x cur (cur * extent m) M C R W X) as (c1 & C1 & R1 & D1 & I1).
    destruct (IH) with (c := c1) (d := t) as (c2 & C2 & D2 & I2); auto; try nia.
    { intros z Z. apply L. apply (Permutation_in _ (Permutation_sym I)). right. auto. }
    exists c2. simpl. repeat split; auto; nia.
Qed.

(** The inverse: an index of L for each offset from the smallest on. *)
Definition right_inverse (l r : modes) : layout := Layout r (origin 1 l).

Theorem right_inverse_law : forall l r last i,
  positive l -> follows (indexed 1 l) 1 r last -> 0 <= i < size r ->
  0 <= at_index (right_inverse l r) i < size l /\
  value l (at_index (right_inverse l r) i) = lowest l + i.
Proof.
  intros l r last i P F B.
  destruct (follows_size _ _ _ _ F) as (_ & PR).
  destruct (follows_sets l _ _ _ _ F (incl_refl _) ltac:(lia) (map low l) (digits r i))
    as (c & C & D & I).
  - apply low_inside; auto.
  - clear. induction l; constructor; auto.
  - apply digits_inside; auto.
  - unfold at_index, right_inverse. simpl.
    rewrite <- low_index, value_digits by auto.
    replace (1 * index l (map low l) + dot r (digits r i)) with (index l c) by lia.
    split; [apply index_range; auto|].
    rewrite value_index, D, low_dot, index_digits by auto. lia.
Qed.

(** ** The longest *)

Lemma indexed_modes : forall ms p, map fst (indexed p ms) = ms.
Proof. induction ms; intros; simpl; [|rewrite IHms]; auto. Qed.

(** Modes that are compact from the stride [cur] on. *)
Fixpoint compact (cur : Z) (ms : modes) : Prop :=
  match ms with
  | [] => True
  | m :: rest => 1 < extent m /\ stride m = cur /\ compact (cur * extent m) rest
  end.

Lemma compact_dot : forall ms cur c, compact cur ms -> inside ms c -> dot ms c = cur * index ms c.
Proof.
  induction ms as [|m ms IH]; intros cur c H I.
  - inversion I. simpl. lia.
  - destruct (inside_cons_inv _ _ _ I) as (x & r & -> & X & R).
    destruct H as (E & S & H). simpl. rewrite (IH _ _ H R). nia.
Qed.

Lemma compact_positive : forall ms cur, compact cur ms -> positive ms.
Proof.
  induction ms as [|m ms IH]; intros cur H; constructor; destruct H as (E & S & H); [lia | exact (IH _ H)].
Qed.

Lemma compact_moves : forall ms cur, 1 <= cur -> compact cur ms -> Forall (fun m => 1 <= stride m) ms.
Proof.
  induction ms as [|m ms IH]; intros cur B H; constructor; destruct H as (E & S & H); [lia|].
  apply (IH (cur * extent m)); auto. nia.
Qed.

Lemma follows_parts : forall im cur r last,
  follows im cur r last -> exists taken left,
    Permutation (map fst im) (taken ++ left) /\ compact cur (map by_size taken) /\
    size taken = size r /\
    Forall (fun m => 1 < extent m -> Z.abs (stride m) <> last) left.
Proof.
  induction 1 as [im cur N | im rest cur m p r last I E S F (t & l & A & B & C & D)].
  - exists [], (map fst im). repeat split; auto.
    apply Forall_map, Forall_forall. intros [m p] I E. eauto.
  - exists (m :: t), l. repeat split; auto.
    + rewrite (Permutation_map fst I). simpl. constructor. auto.
    + simpl. lia.
Qed.

Lemma by_size_shape : forall ms, size (map by_size ms) = size ms.
Proof. induction ms; simpl; congruence. Qed.

Lemma permutation_filter : forall (f : mode -> bool) a b,
  Permutation a b -> Permutation (filter f a) (filter f b).
Proof.
  induction 1; simpl; auto.
  - destruct (f x); auto.
  - destruct (f x), (f y); auto using perm_swap.
  - eapply Permutation_trans; eauto.
Qed.

(** Below their first mode that moves at all, modes of long strides reach nothing. *)
Lemma dot_far : forall n ms c,
  0 <= n -> Forall (fun m => 1 < extent m -> stride m = 0 \/ n < stride m) ms -> inside ms c ->
  dot ms c = 0 \/ n < dot ms c.
Proof.
  intros n ms c N F I. induction I as [|m x ms c X I IH]; [left; reflexivity|].
  inversion_clear F as [|? ? M F']. specialize (IH F'). simpl.
  destruct (Z_lt_dec 1 (extent m)) as [E|E].
  - destruct (M E) as [Z|G]; [rewrite Z; lia|].
    destruct (Z.eq_dec x 0) as [->|]; [lia | right; nia].
  - assert (x = 0) by lia. subst x. lia.
Qed.

Lemma dot_one : forall a m b,
  positive (a ++ b) -> 1 < extent m ->
  exists c, inside (a ++ m :: b) c /\ dot (a ++ m :: b) c = stride m.
Proof.
  intros a m b P E. apply positive_app in P. destruct P as (PA & PB).
  exists (map (fun _ => 0) a ++ 1 :: map (fun _ => 0) b). split.
  - apply inside_app; [apply inside_zeros; auto|]. constructor; [lia|]. apply inside_zeros; auto.
  - rewrite dot_app by (apply inside_zeros; auto). simpl. rewrite !dot_zeros. lia.
Qed.

Section Longest.

Variables (l r : modes) (last : Z).
Hypothesis legal : positive l.
Hypothesis apart : injective (filter moves l).
Hypothesis inverse : follows (indexed 1 l) 1 r last.

Lemma unreached : forall c, inside l c -> dot l c <> lowest l + last.
Proof.
  intros c C H.
  destruct (follows_parts _ _ _ _ inverse) as (t & o & P & K & S & N).
  rewrite indexed_modes in P.
  destruct (follows_size _ _ _ _ inverse) as (LS & PR). rewrite Z.mul_1_l in LS.
  assert (PT : positive (t ++ o)) by (eapply Permutation_Forall; eauto).
  apply positive_app in PT. destruct PT as (PT & PO).
  assert (1 <= size r) by (apply size_positive; auto).
  (* The modes that are left have long strides, or do not move. *)
  assert (Far : Forall (fun m => 1 < extent m -> stride m = 0 \/ last < stride m) (map by_size o)).
  { apply Forall_map, Forall_forall. intros m I E. simpl in *.
    destruct (Z.eq_dec (stride m) 0) as [Z0|M]; [left; lia|right].
    rewrite Forall_forall in N. specialize (N m I E).
    destruct (Z_lt_dec last (Z.abs (stride m))) as [|G]; auto. exfalso.
    assert (Q : Permutation (filter moves l) (t ++ filter moves o)).
    { rewrite (permutation_filter moves _ _ P), filter_app.
      replace (filter moves t) with t; [reflexivity|].
      clear - K. apply (compact_moves _ 1 ltac:(lia)) in K. induction t as [|m t IH]; auto.
      inversion_clear K. simpl. unfold moves at 1.
      destruct (Z.eqb_spec (stride m) 0); simpl in *; [lia|]. f_equal; auto. }
    assert (J : injective (map by_size (t ++ filter moves o))).
    { eapply rearranged_injective; [|exact apart].
      eapply rearranged_trans; [|apply rearranged_permutation; symmetry; exact Q].
      apply (rearranged_sym _ _ (lowest (t ++ filter moves o))), rearranged_by_size.
      apply positive_app. split; auto. apply filter_positive; auto. }
    rewrite map_app in J.
    assert (I' : In (by_size m) (map by_size (filter moves o))).
    { apply in_map, filter_In. split; auto. unfold moves. destruct (Z.eqb_spec (stride m) 0); auto. }
    apply in_split in I'. destruct I' as (u & v & U). rewrite U in J.
    assert (PU : positive (map by_size (filter moves o))).
    { apply Forall_map. eapply Forall_impl; [|apply filter_positive; exact PO]. auto. }
    rewrite U in PU. apply positive_app in PU. destruct PU as (PU & PV). inversion_clear PV.
    destruct (dot_one u (by_size m) v) as (e & IE & DE); auto.
    { apply positive_app; auto. }
    set (z := map (fun _ => 0) (map by_size t)).
    set (w := map (fun _ : mode => 0) (u ++ by_size m :: v)).
    assert (PK := compact_positive _ _ K).
    assert (B : 0 <= Z.abs (stride m) < size (map by_size t)) by (rewrite by_size_shape; lia).
    assert (ID := digits_inside _ _ PK B).
    assert (IZ : inside (map by_size t) z) by (apply inside_zeros; auto).
    assert (IW : inside (u ++ by_size m :: v) w).
    { apply inside_zeros, positive_app. split; auto. constructor; auto. }
    assert (X : digits (map by_size t) (Z.abs (stride m)) ++ w = z ++ e).
    { apply J; [apply inside_app; auto | apply inside_app; auto |].
      rewrite !dot_app by auto. unfold w, z. rewrite !dot_zeros, DE.
      rewrite (compact_dot _ _ _ K ID), index_digits by auto. simpl. lia. }
    apply (f_equal (firstn (length z))) in X.
    rewrite firstn_app, firstn_app in X.
    replace (length z) with (length (digits (map by_size t) (Z.abs (stride m)))) in X at 1 2
      by (rewrite <- (inside_length _ _ ID), <- (inside_length _ _ IZ); reflexivity).
    rewrite !Nat.sub_diag, !firstn_all in X. simpl in X. rewrite !app_nil_r in X.
    assert (Y := compact_dot _ _ _ K ID). rewrite index_digits, X in Y by auto.
    unfold z in Y. rewrite dot_zeros in Y. lia. }
  assert (R : rearranged l (map by_size t ++ map by_size o) (lowest l)).
  { rewrite <- map_app. replace (lowest l) with (lowest l + 0) by lia.
    eapply rearranged_trans; [apply rearranged_by_size; auto|].
    apply rearranged_permutation, Permutation_map; auto. }
  destruct R as (f & g & R & _). destruct (R c C) as (R1 & R2 & _). rewrite H in R2.
  apply inside_app_inv in R1. destruct R1 as (a & b & E & A & B). rewrite E in R2.
  rewrite dot_app in R2 by auto.
  rewrite (compact_dot _ _ _ K A) in R2.
  assert (IA := index_range _ _ A). rewrite by_size_shape in IA.
  destruct (dot_far last _ _ ltac:(lia) Far B); lia.
Qed.

Theorem right_inverse_longest : forall (f : Z -> Z) n,
  (forall i, 0 <= i < n -> 0 <= f i < size l /\ value l (f i) = lowest l + i) -> n <= size r.
Proof.
  intros f n H. destruct (Z_le_gt_dec n (size r)) as [|G]; auto. exfalso.
  destruct (follows_size _ _ _ _ inverse) as (LS & PR).
  assert (1 <= size r) by (apply size_positive; auto).
  destruct (H last ltac:(lia)) as (B & V).
  apply (unreached (digits l (f last))); [apply digits_inside; auto|].
  rewrite <- value_digits; auto.
Qed.

End Longest.
