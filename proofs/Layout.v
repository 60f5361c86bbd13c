(** Layouts: modes of an extent and a stride, evaluated by digits of mixed radix.

    What is proved:
    - indices below the size and coordinates within the extents are the same thing: [index] and
      [digits] are inverse to each other, and stay within their bounds;
    - the value at an index is the sum of coordinate times stride at its coordinate;
    - a permutation of the modes, a reversal of modes of negative stride, and modes of extent 1 or
      stride 0 that are left out change coordinates only, and never which values are reached.

    Numbers are unbounded here. That no layout which the constructor accepts overflows 64 bits is
    proved in Bounds.v.

    Rust: crates/tilewright-core/src/layout.rs, mode.rs, index.rs. *)

From Coq Require Import ZArith List Lia Permutation.
Import ListNotations.
Open Scope Z_scope.

(* Arithmetic stays as it is written when definitions are unfolded. *)
Global Arguments Z.add : simpl never.
Global Arguments Z.sub : simpl never.
Global Arguments Z.mul : simpl never.
Global Arguments Z.div : simpl never.
Global Arguments Z.modulo : simpl never.

(** [extent] coordinates, [stride] elements apart. *)
Record mode := Mode { extent : Z; stride : Z }.

(** The modes of a layout, the first one fastest. Brackets group modes and change no value. *)
Definition modes := list mode.

(** Modes with an offset. *)
Record layout := Layout { parts : modes; offset : Z }.

Definition positive (ms : modes) := Forall (fun m => 1 <= extent m) ms.

Fixpoint size (ms : modes) : Z :=
  match ms with
  | [] => 1
  | m :: rest => extent m * size rest
  end.

(** A coordinate has one number for each mode, below its extent. *)
Definition inside (ms : modes) (c : list Z) := Forall2 (fun m x => 0 <= x < extent m) ms c.

(** The sum of coordinate times stride. *)
Fixpoint dot (ms : modes) (c : list Z) : Z :=
  match ms, c with
  | m :: rest, x :: more => x * stride m + dot rest more
  | _, _ => 0
  end.

(** The colexicographic index of a coordinate. *)
Fixpoint index (ms : modes) (c : list Z) : Z :=
  match ms, c with
  | m :: rest, x :: more => x + extent m * index rest more
  | _, _ => 0
  end.

(** The coordinate of an index. *)
Fixpoint digits (ms : modes) (x : Z) : list Z :=
  match ms with
  | [] => []
  | m :: rest => x mod extent m :: digits rest (x / extent m)
  end.

(** The value at an index, the last mode running on beyond the size. *)
Fixpoint value (ms : modes) (x : Z) : Z :=
  match ms with
  | [] => 0
  | [m] => x * stride m
  | m :: rest => x mod extent m * stride m + value rest (x / extent m)
  end.

Definition at_index (l : layout) (x : Z) : Z := offset l + value (parts l) x.

(** ** Digits *)

Lemma digit_div : forall e x y, 0 <= x < e -> (x + e * y) / e = y.
Proof. intros. symmetry. apply (Z.div_unique_pos _ _ _ x); lia. Qed.

Lemma digit_mod : forall e x y, 0 <= x < e -> (x + e * y) mod e = x.
Proof. intros. symmetry. apply (Z.mod_unique_pos _ _ y); lia. Qed.

Lemma quotient_range : forall e n x, 1 <= e -> 0 <= x < e * n -> 0 <= x / e < n.
Proof.
  intros. split; [apply Z.div_pos; lia | apply Z.div_lt_upper_bound; lia].
Qed.

Lemma size_positive : forall ms, positive ms -> 1 <= size ms.
Proof. induction 1; simpl; nia. Qed.

Lemma size_app : forall a b, size (a ++ b) = size a * size b.
Proof. induction a; intros; simpl; [lia | rewrite IHa; lia]. Qed.

Lemma positive_app : forall a b, positive (a ++ b) <-> positive a /\ positive b.
Proof. intros. apply Forall_app. Qed.

Lemma value_zero : forall ms, value ms 0 = 0.
Proof.
  induction ms as [|m [|m' rest] IH]; [reflexivity | reflexivity |].
  cbn [value] in *. rewrite Zmod_0_l, Zdiv_0_l, IH. lia.
Qed.

(** Below the size, the last mode is a mode like the others. *)
Lemma value_cons : forall m ms x,
  1 <= extent m -> 0 <= x < size (m :: ms) ->
  value (m :: ms) x = x mod extent m * stride m + value ms (x / extent m).
Proof.
  intros m [|m' rest] x E H; [|reflexivity]. simpl in *.
  rewrite Z.mod_small by lia. lia.
Qed.

Theorem digits_inside : forall ms x, positive ms -> 0 <= x < size ms -> inside ms (digits ms x).
Proof.
  intros ms x P. revert x. induction P as [|m ms E P IH]; intros x H; simpl in *; constructor.
  - apply Z.mod_pos_bound. lia.
  - apply IH. apply quotient_range; lia.
Qed.

Theorem index_digits : forall ms x, positive ms -> 0 <= x < size ms -> index ms (digits ms x) = x.
Proof.
  intros ms x P. revert x. induction P as [|m ms E P IH]; intros x H; simpl in *; [lia|].
  rewrite IH by (apply quotient_range; lia).
  pose proof (Z.div_mod x (extent m)). lia.
Qed.

Theorem index_range : forall ms c, inside ms c -> 0 <= index ms c < size ms.
Proof. induction 1; simpl; nia. Qed.

Theorem digits_index : forall ms c, inside ms c -> digits ms (index ms c) = c.
Proof.
  induction 1; simpl; [reflexivity|].
  rewrite digit_mod, digit_div by lia. congruence.
Qed.

Lemma inside_positive : forall ms c, inside ms c -> positive ms.
Proof. induction 1; constructor; auto; lia. Qed.

Theorem value_index : forall ms c, inside ms c -> value ms (index ms c) = dot ms c.
Proof.
  induction 1 as [|m x ms c B I IH]; [reflexivity|].
  rewrite value_cons.
  - simpl. rewrite digit_mod, digit_div by lia. lia.
  - lia.
  - apply (index_range (m :: ms) (x :: c)). constructor; auto.
Qed.

Theorem value_digits : forall ms x,
  positive ms -> 0 <= x < size ms -> value ms x = dot ms (digits ms x).
Proof.
  intros. rewrite <- value_index by (apply digits_inside; auto).
  rewrite index_digits; auto.
Qed.

(** ** Coordinates of several parts *)

Lemma inside_length : forall ms c, inside ms c -> length ms = length c.
Proof. induction 1; simpl; congruence. Qed.

Lemma inside_app : forall a b c d, inside a c -> inside b d -> inside (a ++ b) (c ++ d).
Proof. intros. apply Forall2_app; auto. Qed.

Lemma inside_app_inv : forall a b c,
  inside (a ++ b) c -> exists x y, c = x ++ y /\ inside a x /\ inside b y.
Proof.
  intros a b c H. apply Forall2_app_inv_l in H.
  destruct H as (x & y & X & Y & E). exists x, y. auto.
Qed.

Lemma dot_app : forall a b c d, inside a c -> dot (a ++ b) (c ++ d) = dot a c + dot b d.
Proof. induction 1; simpl; lia. Qed.

Lemma index_app : forall a b c d,
  inside a c -> index (a ++ b) (c ++ d) = index a c + size a * index b d.
Proof. induction 1; simpl; [lia | rewrite IHForall2; lia]. Qed.

Lemma dot_zeros : forall ms, dot ms (map (fun _ => 0) ms) = 0.
Proof. induction ms; simpl; lia. Qed.

Lemma inside_zeros : forall ms, positive ms -> inside ms (map (fun _ => 0) ms).
Proof. induction 1; constructor; auto; lia. Qed.

(** No two coordinates have one value. *)
Definition injective (ms : modes) :=
  forall c d, inside ms c -> inside ms d -> dot ms c = dot ms d -> c = d.

(** ** Modes in another order, turned round, or left out

    [rearranged a b k]: coordinates of [a] and of [b] are matched one to one so that values differ by
    [k] everywhere. *)
Definition rearranged (a b : modes) (k : Z) :=
  exists there back : list Z -> list Z,
    (forall c, inside a c -> inside b (there c) /\ dot a c = dot b (there c) + k /\ back (there c) = c) /\
    (forall c, inside b c -> inside a (back c) /\ there (back c) = c).

Lemma rearranged_same : forall a, rearranged a a 0.
Proof.
  intros. exists (fun c => c), (fun c => c).
  split; intros; repeat split; auto; lia.
Qed.

Lemma rearranged_trans : forall a b c j k,
  rearranged a b j -> rearranged b c k -> rearranged a c (j + k).
Proof.
  intros a b c j k (f & g & F & G) (f' & g' & F' & G').
  exists (fun x => f' (f x)), (fun x => g (g' x)). split; intros x H.
  - destruct (F x H) as (H1 & H2 & H3). destruct (F' _ H1) as (H4 & H5 & H6).
    rewrite H6. repeat split; auto; lia.
  - destruct (G' x H) as (H1 & H2). destruct (G _ H1) as (H3 & H4).
    rewrite H4. auto.
Qed.

Lemma rearranged_sym : forall a b k, rearranged a b k -> rearranged b a (- k).
Proof.
  intros a b k (f & g & F & G). exists g, f. split; intros x H.
  - destruct (G x H) as (H1 & H2). destruct (F _ H1) as (H3 & H4 & H5).
    rewrite H2 in H4. repeat split; auto; lia.
  - destruct (F x H) as (H1 & H2 & H3). auto.
Qed.

Lemma inside_cons_inv : forall m a c,
  inside (m :: a) c -> exists x r, c = x :: r /\ 0 <= x < extent m /\ inside a r.
Proof. intros. inversion H; subst. eauto. Qed.

Lemma rearranged_skip : forall m a b k, rearranged a b k -> rearranged (m :: a) (m :: b) k.
Proof.
  intros m a b k (f & g & F & G).
  exists (fun c => match c with x :: r => x :: f r | [] => [] end),
         (fun c => match c with x :: r => x :: g r | [] => [] end).
  split; intros c H; destruct (inside_cons_inv _ _ _ H) as (x & r & -> & X & R).
  - destruct (F r R) as (H1 & H2 & H3). repeat split; try (constructor; auto); simpl; try lia.
    congruence.
  - destruct (G r R) as (H1 & H2). split; [constructor; auto | congruence].
Qed.

Lemma rearranged_swap : forall m n a, rearranged (m :: n :: a) (n :: m :: a) 0.
Proof.
  intros.
  exists (fun c => match c with x :: y :: r => y :: x :: r | r => r end),
         (fun c => match c with x :: y :: r => y :: x :: r | r => r end).
  split; intros c H; destruct (inside_cons_inv _ _ _ H) as (x & r & -> & X & R);
    destruct (inside_cons_inv _ _ _ R) as (y & r' & -> & Y & R');
    repeat split; try (repeat constructor; tauto); simpl; lia.
Qed.

(** Modes in another order. *)
Theorem rearranged_permutation : forall a b, Permutation a b -> rearranged a b 0.
Proof.
  induction 1.
  - apply rearranged_same.
  - apply rearranged_skip; auto.
  - apply rearranged_swap.
  - apply (rearranged_trans _ _ _ 0 0 IHPermutation1 IHPermutation2).
Qed.

(** A mode of extent 1 left out. *)
Theorem rearranged_one : forall m a, extent m = 1 -> rearranged (m :: a) a 0.
Proof.
  intros. exists (fun c => tl c), (fun c => 0 :: c). split; intros c I.
  - destruct (inside_cons_inv _ _ _ I) as (x & r & -> & X & R). simpl.
    assert (x = 0) by lia. subst x. repeat split; auto; lia.
  - split; [constructor; [lia | auto] | reflexivity].
Qed.

(** A mode turned round: coordinates count from its other end. *)
Theorem rearranged_turned : forall e d a,
  rearranged (Mode e d :: a) (Mode e (- d) :: a) ((e - 1) * d).
Proof.
  intros.
  exists (fun c => match c with x :: r => e - 1 - x :: r | [] => [] end),
         (fun c => match c with x :: r => e - 1 - x :: r | [] => [] end).
  split; intros c I; destruct (inside_cons_inv _ _ _ I) as (x & r & -> & X & R); simpl in X;
    repeat split; try (constructor; [simpl; lia | auto]); simpl; try lia; f_equal; lia.
Qed.

(** All strides by size. *)
Definition by_size (m : mode) := Mode (extent m) (Z.abs (stride m)).

(** The smallest value that modes reach. *)
Fixpoint lowest (ms : modes) : Z :=
  match ms with
  | [] => 0
  | m :: rest => Z.min 0 ((extent m - 1) * stride m) + lowest rest
  end.

Theorem rearranged_by_size : forall ms,
  positive ms -> rearranged ms (map by_size ms) (lowest ms).
Proof.
  induction 1 as [|[e d] ms E P IH]; [apply rearranged_same|]. simpl in *. unfold by_size; simpl.
  apply (rearranged_skip (Mode e d)) in IH.
  destruct (Z_le_gt_dec 0 d).
  - rewrite Z.abs_eq, Z.min_l by nia. exact IH.
  - rewrite Z.abs_neq, Z.min_r by nia.
    replace ((e - 1) * d + lowest ms) with (lowest ms + (e - 1) * d) by lia.
    eapply rearranged_trans; [exact IH | apply rearranged_turned].
Qed.

Theorem rearranged_injective : forall a b k, rearranged a b k -> injective b -> injective a.
Proof.
  intros a b k (f & g & F & G) I c d C D E.
  destruct (F c C) as (C1 & C2 & C3). destruct (F d D) as (D1 & D2 & D3).
  rewrite <- C3, <- D3. f_equal. apply I; auto. lia.
Qed.

Lemma rearranged_app_l : forall x a b k, rearranged a b k -> rearranged (x ++ a) (x ++ b) k.
Proof. induction x; intros; simpl; auto using rearranged_skip. Qed.

Lemma rearranged_app_r : forall a b x k, rearranged a b k -> rearranged (a ++ x) (b ++ x) k.
Proof.
  intros.
  pose proof (rearranged_permutation _ _ (Permutation_app_comm a x)).
  pose proof (rearranged_app_l x _ _ _ H).
  pose proof (rearranged_permutation _ _ (Permutation_app_comm x b)).
  pose proof (rearranged_trans _ _ _ _ _ H0 (rearranged_trans _ _ _ _ _ H1 H2)).
  replace k with (0 + (k + 0)) by lia. auto.
Qed.
