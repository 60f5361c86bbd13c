(** Bounds: no layout that the constructor accepts overflows 64 bits.

    Arithmetic of a machine stops at the first number that its type does not hold. What the Rust code
    computes is written here in that arithmetic, operation by operation and in the order of the code.
    A *legal* layout is one that the constructor accepts. What is proved:
    - [check_size_exact], [check_reach_exact]: the checks themselves never overflow 128 bits, and accept
      exactly what I1 and I2 of layout.rs say;
    - [constructor_exact]: the constructor accepts exactly the legal layouts;
    - [size_exact]: the size of a legal layout, and of any axis, is computed without overflow;
    - [offset_at_exact], [dot_exact]: for any integers, an offset is computed without overflow: its
      value inside the layout, and "outside" otherwise;
    - [offset_of_exact]: so is the offset of an index;
    - [axis_of_exact]: so is the index of a coordinate of an axis, leaf by leaf;
    - [bounds_exact], [bounds_least]: the smallest and the largest offset fit, no offset is beyond them, and
      both are reached;
    - [cosize_exact], [span_exact]: so do one more than the largest, and their distance plus one;
    - [swizzle_field_exact], [swizzle_matrix_exact]: a swizzle changes no bit above its window, so that
      swizzled offsets stay below the end of the last window, which fits by I3 ([swizzled_fits]);
    - [coalesce_exact], [coalesce_legal]: coalescing computes what Coalesce.v says, and its result is
      legal without a check;
    - [jumps_fit], [jumps_value_exact]: in a composition, boundaries fit 64 bits, jumps 128, and sums that wrap
      around 128 bits are the value of A, also beyond its size;
    - [run_step_fits]: and so do the steps of a mode of B that is split;
    - [complement_from_exact], [repetitions_fit]: what a complement computes stays below 2^64.

    Not here: other operations of the algebra, which give their modes to the constructor, and the steps
    of a search.

    Rust: crates/tilewright-core/src/layout.rs, mode.rs, index.rs, observe.rs, swizzle.rs,
    algebra/coalesce.rs, algebra/composition/jumps.rs, runs.rs, algebra/complement.rs. *)

From Coq Require Import ZArith List Lia Bool.
From Tilewright Require Import Layout Coalesce Floor Complement.
Import ListNotations.
Open Scope Z_scope.

(** [i64::MAX]. *)
Definition most : Z := 9223372036854775807.

(** What a computation on a machine gives: a number, the refusal that the code returns, or an overflow. *)
Inductive answer (A : Type) :=
  | Got (a : A)
  | Refused
  | Overflow.
Arguments Got {A} a.
Arguments Refused {A}.
Arguments Overflow {A}.

Definition bind {A B : Type} (a : answer A) (f : A -> answer B) : answer B :=
  match a with
  | Got x => f x
  | Refused => Refused
  | Overflow => Overflow
  end.

Notation "x <- a ;; b" := (bind a (fun x => b)) (at level 61, a at next level, right associativity).

Definition fits (low high x : Z) : bool := (low <=? x) && (x <=? high).
Definition held (low high x : Z) : answer Z := if fits low high x then Got x else Overflow.

(** The result of an operation, or of a cast, in a type. *)
Definition u64 := held 0 18446744073709551615.
Definition i64 := held (-9223372036854775808) most.
Definition i128 := held (-170141183460469231731687303715884105728) 170141183460469231731687303715884105727.

(** Integers of a mode: its extent is a [u64], its stride an [i64]. *)
Definition typed (m : mode) :=
  0 <= extent m <= 18446744073709551615 /\ -9223372036854775808 <= stride m <= most.

Lemma held_got : forall low high x, low <= x <= high -> held low high x = Got x.
Proof.
  intros. unfold held, fits. destruct (Z.leb_spec low x), (Z.leb_spec x high); simpl; auto; lia.
Qed.

Ltac hold := unfold u64, i64, i128; rewrite held_got by (unfold most in *; try lia; try nia); cbn [bind].

(** ** The constructor *)

(** Extents multiply to this, an empty mode counted once. *)
Fixpoint counted (ms : modes) : Z :=
  match ms with
  | [] => 1
  | m :: rest => Z.max 1 (extent m) * counted rest
  end.

(** How far a mode moves. *)
Definition width (m : mode) : Z := if extent m =? 0 then 0 else (extent m - 1) * Z.abs (stride m).

Fixpoint widths (ms : modes) : Z :=
  match ms with
  | [] => 0
  | m :: rest => width m + widths rest
  end.

(** I1 and I2. *)
Definition legal_modes (ms : modes) (start : Z) :=
  Forall typed ms /\ counted ms <= most /\ Z.abs start + widths ms < most.
Definition legal (l : layout) := legal_modes (parts l) (offset l).

(** [check_size] from mode to mode. *)
Fixpoint check_size (ms : modes) (s : Z) : answer Z :=
  match ms with
  | [] => Got s
  | m :: rest =>
      e <- i128 (extent m) ;;
      p <- i128 (s * (if e =? 0 then 1 else e)) ;;
      if most <? p then Refused else check_size rest p
  end.

(** [Mode::reach]. *)
Definition reach_of (m : mode) : answer Z :=
  if extent m =? 0 then Got 0
  else e <- i128 (extent m - 1) ;; i128 (e * stride m).

(** [check_reach] from mode to mode. *)
Fixpoint check_reach (ms : modes) (r : Z) : answer Z :=
  if most <=? r then Refused
  else match ms with
       | [] => Got r
       | m :: rest =>
           a <- reach_of m ;;
           b <- i128 (Z.abs a) ;;
           s <- i128 (r + b) ;;
           check_reach rest s
       end.

(** [Layout::new] without a swizzle; brackets are not numbers. *)
Definition new (ms : modes) (start : Z) : answer layout :=
  s <- check_size ms 1 ;;
  a <- i128 (Z.abs start) ;;
  r <- check_reach ms a ;;
  Got (Layout ms start).

Lemma counted_positive : forall ms, 1 <= counted ms.
Proof. induction ms; simpl; nia. Qed.

Lemma width_positive : forall m, typed m -> 0 <= width m.
Proof. intros m ((E & _) & _). unfold width. destruct (Z.eqb_spec (extent m) 0); nia. Qed.

Lemma widths_positive : forall ms, Forall typed ms -> 0 <= widths ms.
Proof. induction 1; simpl; [lia|]. pose proof (width_positive _ H). lia. Qed.

Lemma check_size_from : forall ms s,
  Forall typed ms -> 1 <= s <= most ->
  check_size ms s = if s * counted ms <=? most then Got (s * counted ms) else Refused.
Proof.
  induction ms as [|m rest IH]; intros s T S; simpl.
  - destruct (Z.leb_spec (s * 1) most); [f_equal; lia | lia].
  - inversion_clear T as [|? ? M R]. destruct M as (E & _).
    hold.
    set (e := if extent m =? 0 then 1 else extent m).
    assert (D : e = Z.max 1 (extent m)) by (subst e; destruct (Z.eqb_spec (extent m) 0); lia).
    rewrite <- D. assert (1 <= e <= 18446744073709551615) by lia. clearbody e.
    hold. pose proof (counted_positive rest).
    destruct (Z.ltb_spec most (s * e)).
    + destruct (Z.leb_spec (s * (e * counted rest)) most); [nia | auto].
    + rewrite IH by (auto; nia). rewrite Z.mul_assoc. reflexivity.
Qed.

Theorem check_size_exact : forall ms,
  Forall typed ms ->
  check_size ms 1 = if counted ms <=? most then Got (counted ms) else Refused.
Proof. intros. rewrite check_size_from by (auto; unfold most; lia). rewrite Z.mul_1_l. reflexivity. Qed.

Lemma reach_of_exact : forall m, typed m ->
  reach_of m = Got (if extent m =? 0 then 0 else (extent m - 1) * stride m).
Proof.
  intros m (E & S). unfold reach_of. destruct (Z.eqb_spec (extent m) 0); auto.
  hold. assert (0 <= extent m - 1 <= 18446744073709551614) by lia.
  hold. reflexivity.
Qed.

Lemma reach_width : forall m, typed m ->
  Z.abs (if extent m =? 0 then 0 else (extent m - 1) * stride m) = width m.
Proof.
  intros m (E & S). unfold width. destruct (Z.eqb_spec (extent m) 0); auto.
  rewrite Z.abs_mul, (Z.abs_eq (extent m - 1)) by lia. reflexivity.
Qed.

Lemma width_bound : forall m, typed m -> width m <= 18446744073709551614 * 9223372036854775808.
Proof.
  intros m (E & S). unfold width, most in *. destruct (Z.eqb_spec (extent m) 0); [lia|]. nia.
Qed.

Theorem check_reach_exact : forall ms r,
  Forall typed ms -> 0 <= r <= 9223372036854775808 ->
  check_reach ms r = if r + widths ms <? most then Got (r + widths ms) else Refused.
Proof.
  induction ms as [|m rest IH]; intros r T R; simpl.
  - rewrite Z.add_0_r. rewrite Z.leb_antisym. destruct (r <? most); reflexivity.
  - inversion_clear T as [|? ? M N]. pose proof (width_positive _ M). pose proof (widths_positive _ N).
    destruct (Z.leb_spec most r).
    + destruct (Z.ltb_spec (r + (width m + widths rest)) most); [lia | auto].
    + rewrite reach_of_exact by auto. cbn [bind]. rewrite reach_width by auto.
      pose proof (width_bound _ M).
      hold. hold.
      destruct (Z.ltb_spec (r + width m) most) as [B|B].
      * rewrite IH by (auto; unfold most in *; lia). rewrite Z.add_assoc. reflexivity.
      * destruct (Z.ltb_spec (r + (width m + widths rest)) most); [lia|].
        destruct rest; simpl; destruct (Z.leb_spec most (r + width m)); auto; lia.
Qed.

Theorem constructor_exact : forall ms start,
  Forall typed ms -> -9223372036854775808 <= start <= most ->
  (new ms start = Got (Layout ms start) /\ legal (Layout ms start)) \/
  (new ms start = Refused /\ ~ legal (Layout ms start)).
Proof.
  intros ms start T S. unfold new, legal, legal_modes. simpl.
  rewrite check_size_exact by auto.
  destruct (Z.leb_spec (counted ms) most); cbn [bind]; [|right; split; auto; lia].
  hold. rewrite check_reach_exact by (auto; unfold most in *; lia).
  destruct (Z.ltb_spec (Z.abs start + widths ms) most); cbn [bind];
    [left | right]; split; auto; lia.
Qed.

(** ** Sizes *)

Lemma legal_extents : forall ms, counted ms <= most -> Forall (fun m => extent m <= most) ms.
Proof.
  induction ms as [|m rest IH]; intros C; constructor; simpl in C; pose proof (counted_positive rest).
  - nia.
  - apply IH. nia.
Qed.

(** [Layout::size] and [Layout::axis_size], from mode to mode. *)
Fixpoint size_from (ms : modes) (s : Z) : answer Z :=
  match ms with
  | [] => Got s
  | m :: rest => p <- u64 (s * extent m) ;; size_from rest p
  end.

Lemma size_from_exact : forall ms s c,
  Forall typed ms -> 0 <= s <= c -> c * counted ms <= most -> size_from ms s = Got (s * size ms).
Proof.
  induction ms as [|m rest IH]; intros s c T S C; simpl.
  - f_equal. lia.
  - inversion_clear T as [|? ? M R]. destruct M as (E & _). simpl in C.
    pose proof (counted_positive rest).
    assert (s * extent m <= c * Z.max 1 (extent m)) by nia.
    assert (c * Z.max 1 (extent m) <= most) by nia.
    hold. rewrite (IH _ (c * Z.max 1 (extent m))) by (auto; nia). f_equal. lia.
Qed.

Theorem size_exact : forall ms,
  Forall typed ms -> counted ms <= most -> size_from ms 1 = Got (size ms) /\ 0 <= size ms <= most.
Proof.
  intros ms T C. split.
  - rewrite (size_from_exact _ _ 1) by (auto; lia). f_equal. lia.
  - clear -T C. assert (size ms <= counted ms /\ 0 <= size ms); [|lia]. clear C.
    induction T as [|m rest (E & _) T IH]; simpl; [lia|]. destruct IH as (I1 & I2).
    split; [apply Z.mul_le_mono_nonneg; lia | apply Z.mul_nonneg_nonneg; lia].
Qed.

Lemma counted_app : forall a b, counted (a ++ b) = counted a * counted b.
Proof. induction a; intros; simpl; [lia | rewrite IHa; lia]. Qed.

Lemma widths_app : forall a b, widths (a ++ b) = widths a + widths b.
Proof. induction a; intros; simpl; [lia | rewrite IHa; lia]. Qed.

(** Every axis is part of the modes. *)
Lemma legal_part : forall a b c start,
  legal_modes (a ++ b ++ c) start -> Forall typed b /\ counted b <= most.
Proof.
  intros a b c start (T & C & _).
  apply Forall_app in T. destruct T as (_ & T). apply Forall_app in T. destruct T as (T & _).
  split; auto. rewrite 2 counted_app in C.
  pose proof (counted_positive a). pose proof (counted_positive b). pose proof (counted_positive c).
  assert (counted b <= counted b * counted c) by nia.
  assert (counted b * counted c <= counted a * (counted b * counted c)) by nia. lia.
Qed.

(** ** Offsets of coordinates *)

(** [offset += digit as i64 * stride]. *)
Definition step (sum digit : Z) (m : mode) : answer Z :=
  x <- i64 digit ;;
  p <- i64 (x * stride m) ;;
  i64 (sum + p).

(** A digit inside its mode moves no further than the mode does; [w] is what other modes need. *)
Lemma step_exact : forall sum x m w,
  typed m -> extent m <= most -> 0 <= x < extent m -> 0 <= w -> Z.abs sum + (width m + w) < most ->
  step sum x m = Got (sum + x * stride m) /\ Z.abs (sum + x * stride m) + w < most.
Proof.
  intros sum x m w (E & S) L X W B. unfold width in B.
  destruct (Z.eqb_spec (extent m) 0); [lia|].
  assert (Z.abs (x * stride m) <= (extent m - 1) * Z.abs (stride m)).
  { rewrite Z.abs_mul, (Z.abs_eq x) by lia. apply Z.mul_le_mono_nonneg_r; lia. }
  unfold step. hold. hold. hold. split; auto. lia.
Qed.

(** An axis of [Layout::walk]: all modes but the last take a digit, and the rest must be below the last. *)
Fixpoint walk_axis (ms : modes) (x sum : Z) : answer Z :=
  match ms with
  | [] => Got sum
  | [m] => if extent m <=? x then Refused else step sum x m
  | m :: rest =>
      if extent m =? 0 then Refused
      else s <- step sum (x mod extent m) m ;; walk_axis rest (x / extent m) s
  end.

Lemma walk_axis_exact : forall ms x sum w,
  ms <> [] -> Forall typed ms -> Forall (fun m => extent m <= most) ms ->
  0 <= x -> 0 <= w -> Z.abs sum + (widths ms + w) < most ->
  walk_axis ms x sum = (if x <? size ms then Got (sum + value ms x) else Refused) /\
  (x < size ms -> Z.abs (sum + value ms x) + w < most).
Proof.
  induction ms as [|m [|m' rest] IH]; intros x sum w N T L X W B; [congruence| |].
  - inversion_clear T as [|? ? M _]. inversion_clear L as [|? ? K _]. simpl. simpl in B.
    rewrite Z.mul_1_r. destruct (Z.leb_spec (extent m) x), (Z.ltb_spec x (extent m)); try lia.
    + split; [auto | lia].
    + destruct (step_exact sum x m w M K) as (S1 & S2); try lia. auto.
  - inversion_clear T as [|? ? M R]. inversion_clear L as [|? ? K L'].
    pose proof (widths_positive _ R) as P. destruct M as (E & D).
    set (more := m' :: rest) in *.
    assert (F : walk_axis (m :: more) x sum =
      if extent m =? 0 then Refused
      else s <- step sum (x mod extent m) m ;; walk_axis more (x / extent m) s) by reflexivity.
    assert (V : value (m :: more) x = x mod extent m * stride m + value more (x / extent m))
      by reflexivity.
    assert (Z : size (m :: more) = extent m * size more) by reflexivity.
    assert (Q : widths (m :: more) = width m + widths more) by reflexivity.
    rewrite F, V, Z. rewrite Q in B.
    assert (NM : more <> []) by discriminate.
    clearbody more. clear F V Z Q.
    destruct (Z.eqb_spec (extent m) 0) as [O|O].
    + rewrite O, Z.mul_0_l. destruct (Z.ltb_spec x 0); [lia|]. split; [auto | lia].
    + assert (I : 0 <= x mod extent m < extent m) by (apply Z.mod_pos_bound; lia).
      destruct (step_exact sum (x mod extent m) m (widths more + w) (conj E D) K I) as (S1 & S2);
        try lia.
      rewrite S1. cbn [bind].
      destruct (IH (x / extent m) (sum + x mod extent m * stride m) w) as (I1 & I2); auto.
      { apply Z.div_pos; lia. }
      rewrite I1, <- Z.add_assoc.
      assert (J : x < extent m * size more <-> x / extent m < size more).
      { split; intros H.
        - apply Z.div_lt_upper_bound; lia.
        - pose proof (Z.div_mod x (extent m) O). nia. }
      destruct (Z.ltb_spec x (extent m * size more)), (Z.ltb_spec (x / extent m) (size more));
        try lia.
      * split; auto. intros _. rewrite Z.add_assoc. apply I2. lia.
      * split; [auto | lia].
Qed.

(** The axes of [Layout::walk]. *)
Fixpoint walk (axes : list modes) (xs : list Z) (sum : Z) : answer Z :=
  match axes, xs with
  | a :: more, x :: rest => s <- walk_axis a x sum ;; walk more rest s
  | [], [] => Got sum
  | _, _ => Refused
  end.

(** [Layout::offset_at], without a swizzle. *)
Definition offset_at (axes : list modes) (xs : list Z) (start : Z) : answer Z :=
  if Nat.eqb (length xs) (length axes) then walk axes xs start else Refused.

(** Each integer is below the size of its axis. *)
Definition within (axes : list modes) (xs : list Z) := Forall2 (fun a x => 0 <= x < size a) axes xs.

Fixpoint values (axes : list modes) (xs : list Z) : Z :=
  match axes, xs with
  | a :: more, x :: rest => value a x + values more rest
  | _, _ => 0
  end.

Lemma walk_exact : forall axes xs sum,
  Forall (fun a => a <> []) axes -> Forall typed (concat axes) ->
  Forall (fun m => extent m <= most) (concat axes) -> Forall (fun x => 0 <= x) xs ->
  length xs = length axes -> Z.abs sum + widths (concat axes) < most ->
  (within axes xs /\ walk axes xs sum = Got (sum + values axes xs)) \/
  (~ within axes xs /\ walk axes xs sum = Refused).
Proof.
  induction axes as [|a more IH]; intros [|x xs] sum N T L X Q B; try discriminate.
  - left. split; [constructor|]. simpl. f_equal. lia.
  - simpl in *. inversion_clear N as [|? ? N1 N2]. inversion_clear X as [|? ? X1 X2].
    apply Forall_app in T. destruct T as (T1 & T2). apply Forall_app in L. destruct L as (L1 & L2).
    rewrite widths_app in B. pose proof (widths_positive _ T2).
    destruct (walk_axis_exact a x sum (widths (concat more))) as (W1 & W2); auto.
    rewrite W1. destruct (Z.ltb_spec x (size a)) as [H1|H1]; cbn [bind].
    + destruct (IH xs (sum + value a x)) as [(I1 & I2)|(I1 & I2)]; auto; [left|right].
      * split; [constructor; auto|]. rewrite I2. f_equal. lia.
      * split; [|auto]. intros I. inversion_clear I. auto.
    + right. split; auto. intros I. inversion_clear I. lia.
Qed.

(** For every list of integers, inside the layout or not. *)
Theorem offset_at_exact : forall axes xs start,
  Forall (fun a => a <> []) axes -> legal_modes (concat axes) start -> Forall (fun x => 0 <= x) xs ->
  (within axes xs /\ offset_at axes xs start = Got (start + values axes xs)) \/
  (~ within axes xs /\ offset_at axes xs start = Refused).
Proof.
  intros axes xs start N (T & C & B) X. unfold offset_at.
  destruct (Nat.eqb _ _) eqn:E.
  - apply Nat.eqb_eq in E. apply walk_exact; auto using legal_extents.
  - apply Nat.eqb_neq in E. right. split; auto. intros I. apply E. symmetry.
    clear -I. induction I; simpl; congruence.
Qed.

(** What the integers of axes reach is the sum of coordinate times stride of their digits. *)
Lemma values_digits : forall axes xs,
  Forall positive axes -> within axes xs ->
  inside (concat axes) (concat (map (fun p => digits (fst p) (snd p)) (combine axes xs))) /\
  values axes xs = dot (concat axes) (concat (map (fun p => digits (fst p) (snd p)) (combine axes xs))).
Proof.
  intros axes xs P I. induction I as [|a x axes xs H I IH]; simpl.
  - split; [constructor | reflexivity].
  - inversion_clear P as [|? ? P1 P2]. destruct (IH P2) as (I1 & I2).
    split; [apply inside_app; auto using digits_inside|].
    rewrite dot_app by (apply digits_inside; auto). rewrite <- I2, value_digits by auto. reflexivity.
Qed.

(** [dot] of index.rs: one digit for each mode. *)
Fixpoint dot_from (ms : modes) (c : list Z) (sum : Z) : answer Z :=
  match ms, c with
  | m :: rest, x :: more =>
      if extent m <=? x then Refused else s <- step sum x m ;; dot_from rest more s
  | _, _ => Got sum
  end.

Theorem dot_exact : forall ms c start,
  legal_modes ms start -> inside ms c -> dot_from ms c start = Got (start + dot ms c).
Proof.
  intros ms c start (T & C & B) I. apply legal_extents in C. revert start T C B.
  induction I as [|m x ms c X I IH]; intros start T C B; simpl in *; [f_equal; lia|].
  inversion_clear T as [|? ? M T']. inversion_clear C as [|? ? K C'].
  pose proof (widths_positive _ T').
  destruct (Z.leb_spec (extent m) x); [lia|].
  destruct (step_exact start x m (widths ms)) as (S1 & S2); auto.
  rewrite S1. cbn [bind]. rewrite IH by auto. f_equal. lia.
Qed.

(** [Layout::offset_of], without a swizzle: the last mode takes what is left. *)
Fixpoint index_from (ms : modes) (x sum : Z) : answer Z :=
  match ms with
  | [] => Got sum
  | [m] => step sum x m
  | m :: rest =>
      if extent m =? 0 then index_from rest x sum
      else s <- step sum (x mod extent m) m ;; index_from rest (x / extent m) s
  end.

Definition offset_of (ms : modes) (x start : Z) : answer Z :=
  s <- size_from ms 1 ;;
  if s <=? x then Refused else index_from ms x start.

Lemma index_from_walk : forall ms x sum,
  ms <> [] -> 0 <= x < size ms -> Forall (fun m => 0 <= extent m) ms ->
  index_from ms x sum = walk_axis ms x sum.
Proof.
  induction ms as [|m [|m' rest] IH]; intros x sum N X P; [congruence| |].
  - simpl in *. destruct (Z.leb_spec (extent m) x); [lia | auto].
  - inversion_clear P as [|? ? M R].
    assert (Z : size (m :: m' :: rest) = extent m * size (m' :: rest)) by reflexivity.
    rewrite Z in X.
    change (index_from (m :: m' :: rest) x sum) with
      (if extent m =? 0 then index_from (m' :: rest) x sum
       else s <- step sum (x mod extent m) m ;; index_from (m' :: rest) (x / extent m) s).
    change (walk_axis (m :: m' :: rest) x sum) with
      (if extent m =? 0 then Refused
       else s <- step sum (x mod extent m) m ;; walk_axis (m' :: rest) (x / extent m) s).
    destruct (Z.eqb_spec (extent m) 0) as [O|O]; [nia|].
    destruct (step sum (x mod extent m) m); cbn [bind]; auto.
    apply IH; [discriminate | | auto].
    split; [apply Z.div_pos; lia | apply Z.div_lt_upper_bound; lia].
Qed.

Theorem offset_of_exact : forall l x,
  legal l -> 0 <= x ->
  offset_of (parts l) x (offset l) = if x <? size (parts l) then Got (at_index l x) else Refused.
Proof.
  intros [ms start] x (T & C & B) X. simpl in *. unfold offset_of, at_index. simpl.
  destruct (size_exact ms T C) as (-> & _). cbn [bind].
  destruct (Z.leb_spec (size ms) x), (Z.ltb_spec x (size ms)); try lia; auto.
  destruct ms as [|m rest]; [simpl; f_equal; lia|].
  rewrite index_from_walk.
  - destruct (walk_axis_exact (m :: rest) x start 0) as (W & _); auto using legal_extents;
      try discriminate; try lia.
    rewrite W. destruct (Z.ltb_spec x (size (m :: rest))); [auto | lia].
  - discriminate.
  - lia.
  - eapply Forall_impl; [|exact T]. intros a (E & _). lia.
Qed.

(** [axes_of] of index.rs: the integer of an axis from its digits, the last mode first. *)
Fixpoint axis_of (ms : modes) (c : list Z) : answer Z :=
  match ms, c with
  | m :: rest, x :: more =>
      r <- axis_of rest more ;;
      p <- u64 (r * extent m) ;;
      u64 (p + x)
  | _, _ => Got 0
  end.

Theorem axis_of_exact : forall ms c,
  counted ms <= most -> inside ms c -> axis_of ms c = Got (index ms c) /\ index ms c < size ms.
Proof.
  intros ms c C I. split; [|apply index_range; auto].
  revert C. induction I as [|m x ms c X I IH]; intros C; simpl in *; auto.
  pose proof (counted_positive ms). pose proof (index_range _ _ I).
  assert (size ms <= counted ms).
  { clear -I. induction I as [|m x ms c X I IH]; simpl; [lia|]. pose proof (counted_positive ms). nia. }
  rewrite IH by nia. cbn [bind].
  assert (index ms c * extent m + x < size ms * extent m) by nia.
  assert (size ms * extent m <= most) by nia.
  hold. hold. f_equal. lia.
Qed.

(** ** The smallest and the largest offset *)

Fixpoint highest (ms : modes) : Z :=
  match ms with
  | [] => 0
  | m :: rest => Z.max 0 ((extent m - 1) * stride m) + highest rest
  end.

(** [reach] of layout.rs, from mode to mode. *)
Fixpoint reach_from (ms : modes) (low high : Z) : answer (Z * Z) :=
  match ms with
  | [] => Got (low, high)
  | m :: rest =>
      s <- reach_of m ;;
      if s <? 0 then l <- i128 (low + s) ;; reach_from rest l high
      else h <- i128 (high + s) ;; reach_from rest low h
  end.

(** [Layout::bounds], without a swizzle. *)
Definition bounds (ms : modes) (start : Z) : answer (Z * Z) :=
  s <- size_from ms 1 ;;
  if s =? 0 then Refused
  else r <- reach_from ms start start ;;
       l <- i64 (fst r) ;;
       h <- i64 (snd r) ;;
       Got (l, h).

Definition cosize (ms : modes) (start : Z) : answer Z :=
  b <- bounds ms start ;; i64 (snd b + 1).

Definition span (ms : modes) (start : Z) : answer Z :=
  b <- bounds ms start ;;
  d <- i128 (snd b - fst b) ;;
  s <- i128 (d + 1) ;;
  u64 s.

Lemma positive_of_size : forall ms, Forall typed ms -> size ms <> 0 -> positive ms.
Proof.
  induction 1 as [|m rest (E & _) T IH]; intros N; simpl in N; [constructor|].
  assert (extent m <> 0 /\ size rest <> 0) by (split; intros Z; rewrite Z in N; lia).
  constructor; [lia|]. apply IH. lia.
Qed.

Lemma reach_from_exact : forall ms low high w,
  Forall typed ms -> positive ms -> 0 <= w ->
  Z.abs low + (widths ms + w) < most -> Z.abs high + (widths ms + w) < most ->
  reach_from ms low high = Got (low + lowest ms, high + highest ms) /\
  Z.abs (low + lowest ms) + w < most /\ Z.abs (high + highest ms) + w < most.
Proof.
  induction ms as [|m rest IH]; intros low high w T P W L H; simpl in *.
  - rewrite 2 Z.add_0_r. repeat split; auto; lia.
  - inversion_clear T as [|? ? M T']. inversion_clear P as [|? ? E P'].
    pose proof (widths_positive _ T') as V. pose proof (reach_width _ M) as R.
    rewrite reach_of_exact by auto.
    destruct (Z.eqb_spec (extent m) 0); [lia|]. cbn [bind].
    set (s := (extent m - 1) * stride m) in *.
    destruct (Z.ltb_spec s 0).
    + rewrite Z.min_r, Z.max_l by lia. hold.
      destruct (IH (low + s) high w) as (-> & A & B); auto; try lia.
      repeat split; [f_equal; f_equal; lia | lia | lia].
    + rewrite Z.min_l, Z.max_r by lia. hold.
      destruct (IH low (high + s) w) as (-> & A & B); auto; try lia.
      repeat split; [f_equal; f_equal; lia | lia | lia].
Qed.

Theorem bounds_exact : forall l,
  legal l -> size (parts l) <> 0 ->
  bounds (parts l) (offset l) = Got (offset l + lowest (parts l), offset l + highest (parts l)).
Proof.
  intros [ms start] (T & C & B) N. simpl in *. unfold bounds.
  destruct (size_exact ms T C) as (-> & _). cbn [bind].
  destruct (Z.eqb_spec (size ms) 0); [lia|].
  pose proof (positive_of_size _ T N) as P.
  destruct (reach_from_exact ms start start 0 T P) as (-> & X & Y); try lia. cbn [bind fst snd].
  hold. hold. reflexivity.
Qed.

Lemma lowest_below : forall ms c, inside ms c -> lowest ms <= dot ms c <= highest ms.
Proof.
  induction 1 as [|m x ms c X I IH]; simpl; [lia|].
  destruct (Z_le_gt_dec 0 (stride m)).
  - assert (0 <= x * stride m <= (extent m - 1) * stride m) by nia. lia.
  - assert ((extent m - 1) * stride m <= x * stride m <= 0) by nia. lia.
Qed.

Lemma bounds_reached : forall ms, positive ms ->
  exists c d, inside ms c /\ inside ms d /\ dot ms c = lowest ms /\ dot ms d = highest ms.
Proof.
  induction 1 as [|m ms E P (c & d & C & D & EC & ED)].
  - exists [], []. repeat split; auto; constructor.
  - simpl. destruct (Z_le_gt_dec 0 (stride m)).
    + exists (0 :: c), (extent m - 1 :: d). simpl.
      assert (0 <= (extent m - 1) * stride m) by nia.
      repeat split; try (constructor; auto; lia); lia.
    + exists (extent m - 1 :: c), (0 :: d). simpl.
      assert ((extent m - 1) * stride m <= 0) by nia.
      repeat split; try (constructor; auto; lia); lia.
Qed.

(** The bounds hold for every coordinate, and each is the offset of one. *)
Theorem bounds_least : forall l,
  positive (parts l) ->
  (forall c, inside (parts l) c ->
     offset l + lowest (parts l) <= offset l + dot (parts l) c <= offset l + highest (parts l)) /\
  exists c d, inside (parts l) c /\ inside (parts l) d /\
    dot (parts l) c = lowest (parts l) /\ dot (parts l) d = highest (parts l).
Proof.
  intros l P. split; [|apply bounds_reached; auto].
  intros c I. pose proof (lowest_below _ _ I). lia.
Qed.

Lemma bounds_fit : forall ms start,
  legal_modes ms start -> positive ms ->
  Z.abs (start + lowest ms) < most /\ Z.abs (start + highest ms) < most /\
  0 <= highest ms - lowest ms < most.
Proof.
  intros ms start (T & C & B) P.
  destruct (reach_from_exact ms start start 0 T P) as (_ & X & Y); try lia.
  assert (highest ms - lowest ms = widths ms /\ 0 <= widths ms); [|lia].
  split; [|apply widths_positive; auto].
  clear -T P. induction P as [|m ms E P IH]; [reflexivity|]. inversion_clear T as [|? ? M T'].
  pose proof (reach_width _ M) as R. simpl. specialize (IH T').
  destruct (Z.eqb_spec (extent m) 0); [lia|]. lia.
Qed.

Theorem cosize_exact : forall l,
  legal l -> size (parts l) <> 0 ->
  cosize (parts l) (offset l) = Got (offset l + highest (parts l) + 1).
Proof.
  intros l L N. unfold cosize. rewrite bounds_exact by auto. cbn [bind snd].
  destruct (bounds_fit _ _ L (positive_of_size _ (proj1 L) N)). hold. reflexivity.
Qed.

Theorem span_exact : forall l,
  legal l -> size (parts l) <> 0 ->
  span (parts l) (offset l) = Got (highest (parts l) - lowest (parts l) + 1).
Proof.
  intros l L N. unfold span. rewrite bounds_exact by auto. cbn [bind fst snd].
  destruct (bounds_fit _ _ L (positive_of_size _ (proj1 L) N)) as (A & B & C).
  hold. hold. hold. f_equal. lia.
Qed.

(** ** Swizzles *)

(** The swizzle of CuTe's family, as [Swizzle::apply] computes it. *)
Definition swizzle_field (bits base shift x : Z) : Z :=
  let mask := Z.shiftl (2 ^ bits - 1) base in
  if 0 <=? shift
  then Z.lxor x (Z.shiftr (Z.land x (Z.shiftl mask shift)) shift)
  else Z.lxor x (Z.shiftl (Z.land x mask) (- shift)).

(** The xor of the images of the bits that are set, from bit [i] on. *)
Fixpoint xor_of (images : list Z) (i x : Z) : Z :=
  match images with
  | [] => 0
  | image :: more => Z.lxor (if Z.testbit x i then image else 0) (xor_of more (i + 1) x)
  end.

(** [Swizzle::xor_of_images]: bits above the images stay. *)
Definition swizzle_matrix (images : list Z) (x : Z) : Z :=
  Z.lxor (Z.lxor x (Z.land x (2 ^ Z.of_nat (length images) - 1))) (xor_of images 0 x).

Lemma xor_high : forall k x d,
  0 <= k -> 0 <= x -> 0 <= d < 2 ^ k -> 0 <= Z.lxor x d /\ Z.lxor x d / 2 ^ k = x / 2 ^ k.
Proof.
  intros k x d K X D. split; [apply Z.lxor_nonneg; lia|].
  rewrite <- 2 Z.shiftr_div_pow2, Z.shiftr_lxor by auto.
  rewrite (Z.shiftr_div_pow2 d), Z.div_small, Z.lxor_0_r by lia. reflexivity.
Qed.

Lemma land_low : forall k y m, 0 <= k -> 0 <= y -> 0 <= m < 2 ^ k -> 0 <= Z.land y m < 2 ^ k.
Proof.
  intros k y m K Y M. assert (0 <= Z.land y m) by (apply Z.land_nonneg; lia). split; auto.
  assert (Z.land y m / 2 ^ k = 0) as Q.
  { rewrite <- Z.shiftr_div_pow2, Z.shiftr_land by auto.
    rewrite (Z.shiftr_div_pow2 m), Z.div_small, Z.land_0_r by lia. reflexivity. }
  apply Z.div_small_iff in Q; lia.
Qed.

Lemma mask_low : forall bits base,
  0 <= bits -> 0 <= base -> 0 <= Z.shiftl (2 ^ bits - 1) base < 2 ^ (base + bits).
Proof.
  intros. rewrite Z.shiftl_mul_pow2, Z.pow_add_r by lia.
  assert (0 < 2 ^ bits) by (apply Z.pow_pos_nonneg; lia).
  assert (0 < 2 ^ base) by (apply Z.pow_pos_nonneg; lia). nia.
Qed.

(** Above the window, no bit changes. *)
Theorem swizzle_field_exact : forall bits base shift x,
  0 <= bits -> 0 <= base -> 0 <= x ->
  let window := 2 ^ (base + bits + Z.max 0 (- shift)) in
  0 <= swizzle_field bits base shift x /\ swizzle_field bits base shift x / window = x / window.
Proof.
  intros bits base shift x B S X window. subst window. unfold swizzle_field.
  pose proof (mask_low bits base B S) as M. set (mask := Z.shiftl (2 ^ bits - 1) base) in *.
  destruct (Z.leb_spec 0 shift).
  - rewrite Z.max_l, Z.add_0_r by lia. apply xor_high; [lia | auto |].
    rewrite Z.shiftr_land, Z.shiftr_shiftl_l, Z.sub_diag, Z.shiftl_0_r by lia.
    apply land_low; auto; [lia | apply Z.shiftr_nonneg; auto].
  - rewrite Z.max_r by lia. apply xor_high; [lia | auto |].
    assert (0 <= Z.land x mask < 2 ^ (base + bits)) by (apply land_low; auto; lia).
    rewrite Z.shiftl_mul_pow2, Z.pow_add_r by lia.
    assert (0 < 2 ^ (- shift)) by (apply Z.pow_pos_nonneg; lia). nia.
Qed.

(** The bits from [i] on, one by one. *)
Fixpoint owns (count : nat) (i : Z) : list Z :=
  match count with
  | O => []
  | S count => 2 ^ i :: owns count (i + 1)
  end.

Lemma owns_bits : forall count i x n,
  0 <= i -> 0 <= n ->
  Z.testbit (xor_of (owns count i) i x) n = (i <=? n) && (n <? i + Z.of_nat count) && Z.testbit x n.
Proof.
  induction count as [|count IH]; intros i x n I N; cbn [owns xor_of].
  - rewrite Z.testbit_0_l. destruct (Z.leb_spec i n), (Z.ltb_spec n (i + Z.of_nat 0)); simpl; auto; lia.
  - rewrite Z.lxor_spec, IH by lia.
    replace (Z.testbit (if Z.testbit x i then 2 ^ i else 0) n) with ((n =? i) && Z.testbit x n).
    + destruct (Z.eqb_spec n i), (Z.leb_spec (i + 1) n), (Z.ltb_spec n (i + 1 + Z.of_nat count)),
        (Z.leb_spec i n), (Z.ltb_spec n (i + Z.of_nat (S count))); simpl; try lia;
        destruct (Z.testbit x n); reflexivity.
    + destruct (Z.eqb_spec n i) as [->|D]; simpl.
      * destruct (Z.testbit x i); [rewrite Z.pow2_bits_true by lia; auto | rewrite Z.testbit_0_l; auto].
      * destruct (Z.testbit x i); [rewrite Z.pow2_bits_false by lia; auto | rewrite Z.testbit_0_l; auto].
Qed.

Lemma owns_low : forall count x,
  0 <= x -> xor_of (owns count 0) 0 x = Z.land x (2 ^ Z.of_nat count - 1).
Proof.
  intros count x X. apply Z.bits_inj'. intros n N.
  rewrite owns_bits by lia.
  rewrite <- Z.pred_succ at 1. rewrite Z.land_spec.
  replace (2 ^ Z.of_nat count - 1) with (Z.ones (Z.of_nat count)) by (rewrite Z.ones_equiv; lia).
  rewrite Z.pred_succ.
  destruct (Z.ltb_spec n (0 + Z.of_nat count)).
  - rewrite Z.ones_spec_low by lia. destruct (Z.leb_spec 0 n); [|lia]. simpl. rewrite andb_true_r. auto.
  - rewrite Z.ones_spec_high by lia. rewrite !andb_false_r. auto.
Qed.

(** Each image from bit [i] on agrees with its own bit above the window of [k] bits. *)
Fixpoint agree (k i : Z) (images : list Z) : Prop :=
  match images with
  | [] => True
  | image :: more => 0 <= image /\ image / 2 ^ k = 2 ^ i / 2 ^ k /\ agree k (i + 1) more
  end.

Lemma xor_of_high : forall k images i x,
  0 <= k -> 0 <= i -> agree k i images ->
  0 <= xor_of images i x /\
  xor_of images i x / 2 ^ k = xor_of (owns (length images) i) i x / 2 ^ k.
Proof.
  intros k images. induction images as [|image more IH]; intros i x K I A; simpl; [split; [lia | auto]|].
  destruct A as (P & Q & R). destruct (IH (i + 1) x K ltac:(lia) R) as (I1 & I2).
  split.
  - apply Z.lxor_nonneg. destruct (Z.testbit x i); lia.
  - rewrite <- !Z.shiftr_div_pow2, !Z.shiftr_lxor in * by lia. f_equal; auto.
    destruct (Z.testbit x i); auto.
Qed.

Theorem swizzle_matrix_exact : forall k images x,
  0 <= k -> 0 <= x -> agree k 0 images ->
  0 <= swizzle_matrix images x /\ swizzle_matrix images x / 2 ^ k = x / 2 ^ k.
Proof.
  intros k images x K X A. unfold swizzle_matrix.
  destruct (xor_of_high k images 0 x K ltac:(lia) A) as (P & Q).
  rewrite <- owns_low by auto.
  set (rest := xor_of (owns (length images) 0) 0 x) in *.
  assert (0 <= rest).
  { subst rest. rewrite owns_low by auto. apply Z.land_nonneg. auto. }
  split.
  - apply Z.lxor_nonneg. rewrite (Z.lxor_nonneg x rest). lia.
  - rewrite <- !Z.shiftr_div_pow2, !Z.shiftr_lxor in * by lia. rewrite Q.
    rewrite Z.lxor_assoc, Z.lxor_nilpotent, Z.lxor_0_r. reflexivity.
Qed.

(** I3. *)
Definition swizzle_legal (l : layout) (window : Z) :=
  0 <= offset l + lowest (parts l) /\
  ((offset l + highest (parts l)) / window + 1) * window <= most.

(** The bounds with a swizzle: whole windows. *)
Theorem swizzled_fits : forall l window swizzle c,
  1 <= window -> swizzle_legal l window ->
  (forall x, 0 <= x -> 0 <= swizzle x /\ swizzle x / window = x / window) ->
  inside (parts l) c ->
  let low := (offset l + lowest (parts l)) / window * window in
  let high := ((offset l + highest (parts l)) / window + 1) * window - 1 in
  low <= swizzle (offset l + dot (parts l) c) <= high /\ 0 <= low /\ high + 1 <= most.
Proof.
  intros l w f c W (L & H) F I low high. pose proof (lowest_below _ _ I) as B.
  set (x := offset l + dot (parts l) c) in *.
  destruct (F x ltac:(lia)) as (F1 & F2).
  assert ((offset l + lowest (parts l)) / w <= x / w) by (apply Z.div_le_mono; lia).
  assert (x / w <= (offset l + highest (parts l)) / w) by (apply Z.div_le_mono; lia).
  assert (0 <= (offset l + lowest (parts l)) / w) by (apply Z.div_pos; lia).
  pose proof (Z.div_mod (f x) w ltac:(lia)) as D. pose proof (Z.mod_pos_bound (f x) w ltac:(lia)).
  subst low high. rewrite F2 in D. nia.
Qed.

(** ** Coalescing *)

(** [follows] of coalesce.rs; a product that a [i64] does not hold is not a stride. *)
Definition follows (m next : mode) : answer bool :=
  e <- i64 (extent m) ;;
  match i64 (e * stride m) with
  | Got reached => Got (reached =? stride next)
  | _ => Got false
  end.

(** [merge] behind a mode [a] of the result; refused is the result without coordinates. *)
Fixpoint merge_on (extended : bool) (a : mode) (ms : modes) : answer modes :=
  match ms with
  | [] => Got [a]
  | m :: rest =>
      if extent m =? 0 then Refused
      else chains <- follows a m ;;
           if (chains : bool)
           then e <- u64 (extent a * extent m) ;; merge_on extended (Mode e (stride a)) rest
           else if (1 <? extent m) || (extended && match rest with [] => true | _ => false end)
           then r <- merge_on extended m rest ;; Got (a :: r)
           else merge_on extended a rest
  end.

Fixpoint merge_all (extended : bool) (ms : modes) : answer modes :=
  match ms with
  | [] => Got []
  | m :: rest =>
      if extent m =? 0 then Refused
      else if (1 <? extent m) || (extended && match rest with [] => true | _ => false end)
      then merge_on extended m rest
      else merge_all extended rest
  end.

Definition coalesce_on (extended : bool) (ms : modes) : answer modes :=
  match merge_all extended ms with
  | Got [] => Got [Mode 1 0]
  | Got merged => Got merged
  | Refused => Got [Mode 0 0]
  | Overflow => Overflow
  end.

Lemma follows_exact : forall a m,
  0 <= extent a <= most -> typed m -> follows a m = Got (extent a * stride a =? stride m).
Proof.
  intros a m E (_ & S). unfold follows. hold. unfold i64, held.
  destruct (fits _ _ (extent a * stride a)) eqn:F; auto. f_equal. symmetry. apply Z.eqb_neq.
  intros Q. unfold fits in F. rewrite Q in F.
  apply andb_false_iff in F. destruct F as [F|F]; apply Z.leb_gt in F; lia.
Qed.

Lemma factors : forall a b c n,
  1 <= a -> 1 <= b -> 1 <= c -> a * (b * c) <= n ->
  a <= n /\ b <= n /\ a * b <= n /\ a * c <= n /\ b * c <= n /\ a * b * c <= n /\ 1 <= b * c /\ 1 <= a * b.
Proof.
  intros a b c n A B C H.
  assert (1 <= b * c) by nia. assert (1 <= a * b) by nia.
  assert (a * 1 <= a * (b * c)) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (1 * (b * c) <= a * (b * c)) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (a * b * 1 <= a * b * c) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (a * c <= a * (b * c)) by (apply Z.mul_le_mono_nonneg_l; nia).
  assert (b * 1 <= b * c) by (apply Z.mul_le_mono_nonneg_l; lia).
  lia.
Qed.

Definition none (ms : modes) : bool := existsb (fun m => extent m =? 0) ms.

Lemma merge_on_exact : forall b ms a,
  1 <= extent a -> Forall typed ms -> extent a * counted ms <= most ->
  merge_on b a ms = if none ms then Refused else Got (merge_into b a ms).
Proof.
  intros b ms. induction ms as [|m rest IH]; intros a A T C; [reflexivity|].
  inversion_clear T as [|? ? M T']. simpl in C. pose proof (counted_positive rest) as P.
  destruct (factors (extent a) (Z.max 1 (extent m)) (counted rest) most) as (F1 & F2 & F3 & F4 & F5 & F6 & _);
    try lia.
  cbn [merge_on none existsb merge_into].
  destruct (Z.eqb_spec (extent m) 0) as [Z|N]; [reflexivity|]. cbn [orb].
  rewrite follows_exact by (auto; lia). cbn [bind].
  destruct M as (E & S). rewrite Z.max_r in * by lia.
  destruct (extent a * stride a =? stride m).
  - hold. apply (IH (Mode (extent a * extent m) (stride a))); simpl; auto; nia.
  - destruct (_ || _).
    + rewrite IH by (auto; lia). fold (none rest). destruct (none rest); reflexivity.
    + apply IH; auto.
Qed.

Lemma merge_all_exact : forall b ms,
  Forall typed ms -> counted ms <= most ->
  merge_all b ms = if none ms then Refused else Got (merge b ms).
Proof.
  intros b ms T. induction T as [|m rest (E & S) T IH]; intros C; [reflexivity|].
  simpl in C. pose proof (counted_positive rest).
  cbn [merge_all none existsb merge].
  destruct (Z.eqb_spec (extent m) 0) as [Z|N]; [reflexivity|]. cbn [orb].
  destruct (_ || _).
  - apply merge_on_exact; auto; [lia | nia].
  - apply IH. nia.
Qed.

(** The machine computes [coalesce] and [coalesce_extended]. *)
Theorem coalesce_exact : forall b l,
  legal l -> coalesce_on b (parts l) = Got (coalesce_with b (parts l)).
Proof.
  intros b l (T & C & _). unfold coalesce_on, coalesce_with.
  rewrite merge_all_exact by auto. fold (none (parts l)).
  destruct (none (parts l)); [reflexivity|]. destruct (merge b (parts l)); reflexivity.
Qed.

Lemma width_one : forall m, extent m = 1 -> width m = 0.
Proof. intros m E. unfold width. rewrite E. reflexivity. Qed.

Lemma merge_into_legal : forall b ms a,
  positive (a :: ms) -> Forall typed ms -> -9223372036854775808 <= stride a <= most ->
  extent a * counted ms <= most ->
  Forall typed (merge_into b a ms) /\
  counted (merge_into b a ms) = counted (a :: ms) /\
  widths (merge_into b a ms) = widths (a :: ms).
Proof.
  intros b ms. induction ms as [|m rest IH]; intros a P T S C.
  - inversion_clear P. simpl in *. repeat split; auto. constructor; [|constructor].
    split; [unfold most in *; lia | auto].
  - inversion_clear P as [|? ? A Q]. inversion_clear Q as [|? ? B R].
    inversion_clear T as [|? ? M T']. destruct M as (E & D).
    pose proof (counted_positive rest).
    cbn [counted] in C. rewrite Z.max_r in C by lia.
    destruct (factors (extent a) (extent m) (counted rest) most) as (F1 & F2 & F3 & F4 & F5 & F6 & F7 & F8); auto.
    cbn [merge_into counted widths].
    destruct (Z.eqb_spec (extent a * stride a) (stride m)) as [F|F].
    + destruct (IH (Mode (extent a * extent m) (stride a))) as (I1 & I2 & I3); simpl; auto; [constructor; simpl; auto; lia|].
      split; auto. rewrite I2, I3. cbn [counted widths extent stride]. split; [nia|].
      unfold width. cbn [extent stride].
      rewrite 3 (proj2 (Z.eqb_neq _ 0)) by lia.
      rewrite <- F, Z.abs_mul, (Z.abs_eq (extent a)) by lia. lia.
    + destruct ((1 <? extent m) || _) eqn:K.
      * destruct (IH m) as (I1 & I2 & I3); auto; [constructor; auto|].
        cbn [counted widths] in *. rewrite I2, I3. repeat split; auto.
        constructor; auto. split; [unfold most in *; lia | auto].
      * apply orb_false_iff in K. destruct K as (K & _). apply Z.ltb_ge in K.
        assert (O : extent m = 1) by lia.
        destruct (IH a) as (I1 & I2 & I3); auto; [constructor; auto|].
        cbn [counted widths] in *. rewrite I2, I3, (width_one m O), O. repeat split; auto; lia.
Qed.

Lemma merge_legal : forall b ms,
  positive ms -> Forall typed ms -> counted ms <= most ->
  Forall typed (merge b ms) /\ counted (merge b ms) = counted ms /\ widths (merge b ms) = widths ms.
Proof.
  intros b ms P. induction P as [|m rest B R IH]; intros T C; [repeat split; auto|].
  inversion_clear T as [|? ? M T']. destruct M as (E & D). pose proof (counted_positive rest).
  cbn [counted] in C. rewrite Z.max_r in C by lia.
  cbn [merge]. destruct ((1 <? extent m) || _) eqn:K.
  - apply merge_into_legal; auto. constructor; auto.
  - apply orb_false_iff in K. destruct K as (K & _). apply Z.ltb_ge in K.
    assert (O : extent m = 1) by lia.
    destruct IH as (I1 & I2 & I3); auto; [nia|].
    cbn [counted widths]. rewrite I2, I3, (width_one m O), O. repeat split; auto; lia.
Qed.

(** [Layout::with_leaves] needs no check. *)
Theorem coalesce_legal : forall b l,
  legal l -> legal (Layout (coalesce_with b (parts l)) (offset l)).
Proof.
  intros b [ms start] (T & C & B). unfold legal, legal_modes. simpl in *.
  pose proof (widths_positive _ T) as W. unfold coalesce_with.
  assert (Y : forall e, 0 <= e <= 1 -> legal_modes [Mode e 0] start).
  { intros e E. split; [|split].
    - constructor; [|constructor]. split; simpl; unfold most in *; lia.
    - simpl. unfold most in *. lia.
    - simpl. unfold width. simpl. destruct (e =? 0); lia. }
  destruct (existsb _ ms) eqn:Z; [apply Y; lia|].
  apply no_zero_extent in Z.
  - destruct (merge_legal b ms Z T C) as (I1 & I2 & I3).
    destruct (merge b ms); [apply Y; lia|].
    rewrite I2, I3. auto.
  - eapply Forall_impl; [|exact T]. intros a (E & _). lia.
Qed.

(** ** Composition *)

(** 128 bits that wrap around. *)
Definition wrap (x : Z) : Z :=
  (x + 170141183460469231731687303715884105728) mod 340282366920938463463374607431768211456
  - 170141183460469231731687303715884105728.

Definition held_128 (x : Z) :=
  -170141183460469231731687303715884105728 <= x <= 170141183460469231731687303715884105727.

Lemma wrap_id : forall x, held_128 x -> wrap x = x.
Proof. intros x H. unfold held_128, wrap in *. rewrite Z.mod_small; lia. Qed.

Lemma wrap_add : forall a b, wrap (wrap a + b) = wrap (a + b).
Proof.
  intros. unfold wrap. f_equal.
  set (n := 340282366920938463463374607431768211456). set (h := 170141183460469231731687303715884105728).
  replace ((a + h) mod n - h + b + h) with ((a + h) mod n + b) by lia.
  rewrite Z.add_mod_idemp_l by (subst n; lia). f_equal. lia.
Qed.

(** [Jumps::value]: the sum over boundaries, each product and each sum wrapped. *)
Fixpoint wrapped (js : list (Z * Z)) (x sum : Z) : Z :=
  match js with
  | [] => sum
  | (p, e) :: more => wrapped more x (wrap (sum + wrap (e * (x / p))))
  end.

Definition jumps_value (m : mode) (rest : modes) (x : Z) : answer Z :=
  f <- i128 (stride m * x) ;; Got (wrapped (jumps 1 m rest) x f).

Lemma wrapped_sum : forall js x sum, wrap (wrapped js x sum) = wrap (sum + weighed js (fun p => x / p)).
Proof.
  induction js as [|[p e] js IH]; intros x sum; simpl; [f_equal; lia|].
  rewrite IH, wrap_add.
  replace (sum + wrap (e * (x / p)) + weighed js (fun p => x / p))
    with (wrap (e * (x / p)) + (sum + weighed js (fun p => x / p))) by lia.
  rewrite wrap_add. f_equal. lia.
Qed.

Lemma wrap_held : forall x, held_128 (wrap x).
Proof.
  intros. unfold held_128, wrap.
  pose proof (Z.mod_pos_bound (x + 170141183460469231731687303715884105728)
    340282366920938463463374607431768211456 ltac:(lia)). lia.
Qed.

Lemma wrapped_held : forall js x sum, held_128 sum -> held_128 (wrapped js x sum).
Proof. induction js as [|[p e] js IH]; intros; simpl; auto using wrap_held. Qed.

(** Beyond its size, the last mode of A goes on. *)
Lemma value_bound : forall ms x w,
  Forall typed ms -> positive ms -> 0 <= x <= most -> widths ms <= w -> 0 <= w ->
  Z.abs (value ms x) <= w + most * 9223372036854775808.
Proof.
  induction ms as [|m [|m' rest] IH]; intros x w T P X W N.
  - simpl. unfold most. lia.
  - inversion_clear T as [|? ? M _]. destruct M as (_ & S). simpl.
    rewrite Z.abs_mul, (Z.abs_eq x) by lia.
    assert (x * Z.abs (stride m) <= most * 9223372036854775808); [|lia].
    apply Z.mul_le_mono_nonneg; unfold most in *; lia.
  - inversion_clear T as [|? ? M T']. inversion_clear P as [|? ? E P'].
    pose proof (widths_positive _ T') as V.
    assert (F : value (m :: m' :: rest) x = x mod extent m * stride m + value (m' :: rest) (x / extent m))
      by reflexivity.
    assert (Q : widths (m :: m' :: rest) = width m + widths (m' :: rest)) by reflexivity.
    rewrite F. rewrite Q in W. pose proof (width_positive _ M).
    assert (I : 0 <= x mod extent m < extent m) by (apply Z.mod_pos_bound; lia).
    assert (0 <= x / extent m <= x).
    { split; [apply Z.div_pos; lia | apply Z.div_le_upper_bound; nia]. }
    assert (B := IH (x / extent m) (widths (m' :: rest)) T' P' ltac:(lia) ltac:(lia) V).
    assert (Z.abs (x mod extent m * stride m) <= width m).
    { unfold width. destruct (Z.eqb_spec (extent m) 0); [lia|].
      rewrite Z.abs_mul, (Z.abs_eq (x mod extent m)) by lia. apply Z.mul_le_mono_nonneg_r; lia. }
    lia.
Qed.

(** A as its jumps, at every offset of B. *)
Theorem jumps_value_exact : forall m rest start x,
  legal_modes (m :: rest) start -> positive (m :: rest) -> 0 <= x <= most ->
  jumps_value m rest x = Got (value (m :: rest) x).
Proof.
  intros m rest start x (T & C & B) P X. unfold jumps_value.
  assert (D : -9223372036854775808 <= stride m <= most) by (inversion_clear T as [|? ? M _]; apply M).
  assert (Z.abs (stride m * x) <= 9223372036854775808 * most).
  { rewrite Z.abs_mul, (Z.abs_eq x) by lia. apply Z.mul_le_mono_nonneg; unfold most in *; lia. }
  assert (F : held_128 (stride m * x)) by (unfold held_128, most in *; lia).
  unfold i128, most in *. rewrite held_got by apply F. cbn [bind]. f_equal.
  rewrite <- (wrap_id (wrapped _ _ _)) by (apply wrapped_held; auto).
  rewrite wrapped_sum, <- floor_identity by auto. apply wrap_id.
  pose proof (widths_positive _ T) as W.
  assert (V := value_bound (m :: rest) x (widths (m :: rest)) T P X ltac:(lia) W).
  unfold held_128, most in *. lia.
Qed.

(** [Jumps::of]: boundaries are [u64], jumps [i128]. *)
Theorem jumps_fit : forall rest m p start,
  legal_modes (m :: rest) start -> positive (m :: rest) -> 1 <= p -> p * counted (m :: rest) <= most ->
  Forall (fun j => 1 <= fst j <= most /\ held_128 (snd j)) (jumps p m rest).
Proof.
  induction rest as [|m' rest IH]; intros m p start (T & C & B) P Q R; simpl; constructor;
    inversion_clear T as [|? ? M T']; inversion_clear P as [|? ? E P']; inversion P' as [|? ? E' P'']; subst;
    inversion T' as [|? ? M' T'']; subst; pose proof (counted_positive rest);
    cbn [counted widths] in *; rewrite !Z.max_r in * by lia;
    destruct (factors (extent m) (extent m') (counted rest) most) as (F1 & F2 & F3 & F4 & F5 & F6 & F7 & F8); auto.
  - simpl.
    destruct (factors p (extent m) (extent m' * counted rest) most) as (_ & _ & G3 & _ & _ & _ & _ & G8); auto.
    split; [lia|]. destruct M as (_ & S), M' as (_ & S'). unfold held_128.
    assert (Z.abs (extent m * stride m) <= most * 9223372036854775808).
    { rewrite Z.abs_mul, (Z.abs_eq (extent m)) by lia. apply Z.mul_le_mono_nonneg; unfold most in *; lia. }
    unfold most in *. lia.
  - apply (IH m' _ start); auto; [|nia|cbn [counted]; rewrite Z.max_r by lia; nia].
    pose proof (width_positive _ M).
    repeat split; auto; cbn [counted widths]; [rewrite Z.max_r by lia; nia | lia].
Qed.

(** [d *= run] of runs.rs: a mode of B split further still steps within its own reach. *)
Theorem run_step_fits : forall m runs left,
  typed m -> width m < most -> 1 <= runs -> 2 <= left -> runs * left = extent m ->
  i64 (stride m * runs) = Got (stride m * runs).
Proof.
  intros m r left T W R L E.
  assert (r <= extent m - 1) by nia. unfold width in W.
  destruct (Z.eqb_spec (extent m) 0); [nia|].
  assert (r * Z.abs (stride m) <= (extent m - 1) * Z.abs (stride m))
    by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (Z.abs (stride m * r) < most) by (rewrite Z.abs_mul, (Z.abs_eq r) by lia; lia).
  hold. reflexivity.
Qed.

(** ** Complement *)

Definition u128 := held 0 340282366920938463463374607431768211455.

(** The loop of [Layout::complement_of] over modes of positive stride, by stride. *)
Fixpoint complement_from (ms : modes) (current s : Z) : answer (Z * Z) :=
  match ms with
  | [] => Got (current, s)
  | m :: rest =>
      if stride m <? current then Refused
      else d <- u64 (stride m / current) ;;
           p <- u128 (s * d) ;;
           c <- u128 (stride m * extent m) ;;
           complement_from rest c p
  end.

Theorem complement_from_exact : forall ms current s,
  Forall (fun m => 1 <= stride m /\ 2 <= extent m /\ (extent m - 1) * stride m < most) ms ->
  chain current ms -> 1 <= s <= current -> current <= 18446744073709551615 ->
  complement_from ms current s = Got (top current ms, s * size (between current ms)) /\
  1 <= s * size (between current ms) <= top current ms /\ top current ms <= 18446744073709551615.
Proof.
  induction ms as [|m rest IH]; intros current s F C S N; cbn [complement_from top between size].
  - rewrite Z.mul_1_r. auto.
  - inversion_clear F as [|? ? M F']. destruct M as (D & E & R). destruct C as (C & C').
    destruct (Z.ltb_spec (stride m) current); [lia|].
    assert (1 * stride m <= (extent m - 1) * stride m) by (apply Z.mul_le_mono_nonneg_r; lia).
    assert (Q : 1 <= stride m / current) by (apply Z.div_le_lower_bound; lia).
    assert (Q' : stride m / current <= stride m) by (apply Z.div_le_upper_bound; nia).
    assert (X : s * (stride m / current) <= stride m).
    { pose proof (Z.mul_div_le (stride m) current ltac:(lia)).
      assert (s * (stride m / current) <= current * (stride m / current))
        by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
    assert (1 * 1 <= s * (stride m / current)) by (apply Z.mul_le_mono_nonneg; lia).
    assert (Y : stride m * extent m = (extent m - 1) * stride m + stride m) by lia.
    assert (stride m <= stride m * extent m) by lia.
    hold. unfold u128 at 1. rewrite held_got by (unfold most in *; lia). cbn [bind].
    unfold u128 at 1. rewrite held_got by (unfold most in *; lia). cbn [bind].
    destruct (IH (stride m * extent m) (s * (stride m / current)) F' C') as (-> & I1 & I2);
      [lia | unfold most in *; lia |].
    cbn [extent]. rewrite Z.mul_assoc. auto.
Qed.

(** The repetitions fit as the numbers asked for do. *)
Theorem repetitions_fit : forall ms n count,
  1 <= top 1 ms -> 1 <= size (between 1 ms) -> 0 <= n -> 0 <= count ->
  1 <= repetitions ms n count <= Z.max 1 (Z.max n count).
Proof.
  assert (U : forall a b, 0 <= a -> 1 <= b -> up a b <= a).
  { intros a b A B. unfold up. destruct (Z.eq_dec a 0) as [->|].
    - rewrite Z.div_small; lia.
    - apply Z.lt_succ_r, Z.div_lt_upper_bound; nia. }
  intros ms n count T S N C. unfold repetitions.
  pose proof (U n _ N T). pose proof (U count _ C S). lia.
Qed.
