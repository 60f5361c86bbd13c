(** The first gap of a complement.

    L is a chain when sorted, as in Complement.v, whose strides up to a mode of stride d are divided by what
    the modes before reach with one step more, p.

    What is proved:
    - [gap_before]: L and its complement reach every offset below d / p * p, from the smallest of L on;
    - [gap_within]: they reach none from there up to d, so where p does not divide d, that is the first gap.

    Rust: [complement_gap] in crates/tilewright-core/src/algebra/complement.rs. *)

From Coq Require Import ZArith List Lia Permutation.
From Tilewright Require Import Layout Coalesce Complement RightInverse.
Import ListNotations.
Open Scope Z_scope.

Lemma filled_app : forall a m b current k,
  filled current k (a ++ m :: b)
  = filled current (stride m / top current a) a ++ m :: filled (stride m * extent m) k b.
Proof. induction a as [|n a IH]; intros m b current k; simpl; [|rewrite IH]; reflexivity. Qed.

Lemma chain_app : forall a b current, chain current (a ++ b) <-> chain current a /\ chain (top current a) b.
Proof. induction a as [|n a IH]; intros b current; simpl; [|rewrite IH]; tauto. Qed.

Lemma chain_far : forall ms current,
  1 <= current -> positive ms -> chain current ms -> Forall (fun m => current <= stride m) ms.
Proof.
  induction ms as [|m ms IH]; intros current B P C; constructor; destruct C as (C & C'); auto.
  inversion_clear P. eapply Forall_impl; [|apply (IH (stride m * extent m)); auto; nia].
  simpl. intros. nia.
Qed.

Section Gap.

Variables (l a b : modes) (m : mode) (n count : Z).
Hypothesis legal : positive l.
Hypothesis sorts : sorted_form l (a ++ m :: b).
Hypothesis chains : chain 1 (a ++ m :: b).
Hypothesis divides : divides_chain 1 a.

Let p := top 1 a.
Let both := filter moves l ++ complement (a ++ m :: b) n count.
Let least := lowest (filter moves_twice l).
Let before := filled 1 (stride m / p) a.
Let behind := m :: filled (stride m * extent m) (repetitions (a ++ m :: b) n count) b.

Lemma gap_parts :
  rearranged both (before ++ behind) least /\ positive before /\ positive behind /\
  size before = stride m / p * p /\ Forall (fun m' => stride m <= stride m') behind.
Proof.
  assert (P := sorted_form_positive _ _ legal sorts).
  assert (PP := P). apply positive_app in PP. destruct PP as (PA & PB).
  inversion_clear PB as [|? ? M PB'].
  assert (C := chains). apply chain_app in C. destruct C as (CA & CM & CB). fold p in CM.
  assert (T : 1 <= p) by (apply top_positive; auto; lia).
  assert (K := repetitions_positive (a ++ m :: b) n count).
  assert (R := law_rearranged l _ n count legal sorts chains). rewrite filled_app in R.
  assert (Q : 1 <= stride m / p) by (apply Z.div_le_lower_bound; lia).
  assert (E : 1 * size before = p * (stride m / p)) by (apply filled_size; auto; lia).
  assert (F : positive (filled (stride m * extent m) (repetitions (a ++ m :: b) n count) b)).
  { apply filled_positive; auto. nia. }
  repeat split; auto.
  - apply filled_positive; auto; lia.
  - constructor; auto.
  - lia.
  - constructor; [lia|].
    eapply Forall_impl; [|apply (chain_far _ (stride m * extent m)); auto].
    + simpl. intros. nia.
    + nia.
    + apply filled_chain; auto. nia.
Qed.

Theorem gap_before : forall x,
  0 <= x < stride m / p * p -> exists c, inside both c /\ dot both c = least + x.
Proof.
  intros x X. destruct gap_parts as ((f & g & F & G) & PA & PB & S & _).
  rewrite <- S in X. assert (D := digits_inside _ _ PA X).
  assert (I : inside (before ++ behind) (digits before x ++ map (fun _ => 0) behind)).
  { apply inside_app; auto. apply inside_zeros; auto. }
  exists (g (digits before x ++ map (fun _ => 0) behind)).
  destruct (G _ I) as (J & E). split; auto.
  destruct (F _ J) as (_ & V & _). rewrite V, E, dot_app, dot_zeros by auto.
  unfold before at 1. rewrite filled_dot by (auto; lia).
  fold before. rewrite index_digits by auto. lia.
Qed.

Theorem gap_within : forall x,
  stride m / p * p <= x < stride m -> ~ exists c, inside both c /\ dot both c = least + x.
Proof.
  intros x X (c & I & E). destruct gap_parts as ((f & g & F & G) & PA & PB & S & L).
  destruct (F c I) as (J & V & _). apply inside_app_inv in J.
  destruct J as (u & v & U & A & B). rewrite U, dot_app in V by auto.
  assert (W : dot before u = 1 * index before u) by (apply filled_dot; auto; lia).
  assert (R := index_range _ _ A).
  assert (0 <= stride m / p * p) by lia.
  destruct (dot_far (stride m - 1) behind v); auto; try lia.
  eapply Forall_impl; [|exact L]. simpl. intros. right. lia.
Qed.

End Gap.
