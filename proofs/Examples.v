(** The definitions, computed on examples of the Rust documentation.

    Nothing general is proved here: these show that the definitions mean what the program does.

    Rust: crates/tilewright-core/src/algebra/coalesce.rs, composition/mod.rs, complement.rs,
    right_inverse.rs, left_inverse.rs; crates/tilewright-core/src/layout.rs, index.rs,
    observe.rs, swizzle.rs. *)

From Coq Require Import ZArith List Lia Permutation.
From Tilewright Require Import Layout Coalesce Floor Runs Composition Complement RightInverse Nullspace LeftInverse Exchange.
From Tilewright Require Bounds.
Import ListNotations.
Open Scope Z_scope.

(* ((4,2),(4,3)):((4,16),(1,32)) at (1,5), which is the index 41. *)
Definition tiled : modes := [Mode 4 4; Mode 2 16; Mode 4 1; Mode 3 32].
Example tiled_at : (size tiled, digits tiled 41, value tiled 41) = (96, [1; 0; 1; 1], 37).
Proof. reflexivity. Qed.

(* coalesce((2,(1,6)):(1,(6,2))) = 12:1, and so on. *)
Example coalesced : coalesce [Mode 2 1; Mode 1 6; Mode 6 2] = [Mode 12 1].
Proof. reflexivity. Qed.
Example coalesced_apart : coalesce [Mode 2 1; Mode 1 7; Mode 6 8; Mode 1 0] = [Mode 2 1; Mode 6 8].
Proof. reflexivity. Qed.
Example coalesced_one : coalesce [Mode 1 5; Mode 1 9] = [Mode 1 0].
Proof. reflexivity. Qed.
Example coalesced_none : coalesce [Mode 3 1; Mode 0 2] = [Mode 0 0].
Proof. reflexivity. Qed.
Example coalesced_on : coalesce_extended [Mode 2 1; Mode 1 7; Mode 6 8; Mode 1 0] = [Mode 2 1; Mode 6 8; Mode 1 0].
Proof. reflexivity. Qed.

(* (4,6):(2,3) o 4:6 = (2,2):(7,9): the jump at 4 is 3 - 4 * 2. *)
Definition every_sixth := gain (Mode 4 2) [Mode 6 3] 0.
Example jump : jumps 1 (Mode 4 2) [Mode 6 3] = [(4, -5)].
Proof. reflexivity. Qed.

Example sixth_runs : runs every_sixth 6 4 [Mode 2 6; Mode 2 12].
Proof.
  apply (runs_next _ 6 2 2); [lia | lia | | right; discriminate |].
  - intros c C. assert (c = 0 \/ c = 1) as [-> | ->] by lia; reflexivity.
  - apply (runs_next _ (6 * 2) 2 1); [lia | lia | | left; reflexivity | constructor].
    intros c C. assert (c = 0 \/ c = 1) as [-> | ->] by lia; reflexivity.
Qed.

Example sixth_candidate : candidate every_sixth [Mode 2 6; Mode 2 12] = [Mode 2 7; Mode 2 9].
Proof. reflexivity. Qed.

Example sixth_exists :
  exists rs k, composition (Layout [Mode 4 2; Mode 6 3] 0) (Layout [Mode 4 6] 0) rs k.
Proof.
  apply composition_exact; [repeat constructor; simpl; lia | repeat constructor; simpl; lia |].
  exists [[Mode 2 6; Mode 2 12]]. split; [repeat constructor; apply sixth_runs|].
  intros c I. destruct (inside_cons_inv _ _ _ I) as (x & r & -> & X & R).
  destruct (inside_cons_inv _ _ _ R) as (y & s & -> & Y & S). inversion S. simpl in X, Y.
  assert (x = 0 \/ x = 1) as [-> | ->] by lia; assert (y = 0 \/ y = 1) as [-> | ->] by lia; reflexivity.
Qed.

(* (6,2):(1,7) o (3,2):(2,3) has none: at (2,1) the carries are 7 - 6 * 1. *)
Example none_exists :
  ~ exists rs k, composition (Layout [Mode 6 1; Mode 2 7] 0) (Layout [Mode 3 2; Mode 2 3] 0) rs k.
Proof.
  apply (carry_refutes (Mode 6 1) [Mode 2 7] 0 (Layout [Mode 3 2; Mode 2 3] 0)) with
    (runs := [[Mode 3 2]; [Mode 2 3]]) (c := [2; 1]).
  - repeat constructor; simpl; lia.
  - repeat constructor; simpl; lia.
  - constructor; [|constructor; [|constructor]].
    + apply (runs_next _ 2 3 1); [lia | lia | | left; reflexivity | constructor].
      intros c C. assert (c = 0 \/ c = 1 \/ c = 2) as [-> | [-> | ->]] by lia; reflexivity.
    + apply (runs_next _ 3 2 1); [lia | lia | | left; reflexivity | constructor].
      intros c C. assert (c = 0 \/ c = 1) as [-> | ->] by lia; reflexivity.
  - repeat constructor; simpl; lia.
  - discriminate.
Qed.

(* (5,3):(7,1) o 7:1 has none: a run of 5 does not divide 7. *)
Example does_not_split : stuck (gain (Mode 5 7) [Mode 3 1] 0) 1 7.
Proof.
  apply (stuck_here _ 1 5 7); [lia | | discriminate | intros (k & K); lia].
  intros c C. assert (c = 0 \/ c = 1 \/ c = 2 \/ c = 3 \/ c = 4) as [-> | [-> | [-> | [-> | ->]]]] by lia;
    reflexivity.
Qed.

(* complement((2,2):(1,6), 24) = (3,2):(2,12); of (4,6):(1,4) over 24 it is 1:0. *)
Example complement_of_gaps : complement [Mode 2 1; Mode 2 6] 24 1 = [Mode 3 2; Mode 2 12].
Proof. reflexivity. Qed.
Example complement_of_all : complement [Mode 4 1; Mode 6 4] 24 1 = [Mode 1 0].
Proof. reflexivity. Qed.
Example complement_of_gappy : complement [Mode 4 1; Mode 6 6] 48 1 = [Mode 2 36].
Proof. reflexivity. Qed.

(* right_inverse((2,4,6):(4,1,8)) = (4,2,6):(2,1,8). *)
Example right : exists last,
  follows (indexed 1 [Mode 2 4; Mode 4 1; Mode 6 8]) 1 [Mode 4 2; Mode 2 1; Mode 6 8] last.
Proof.
  eexists. simpl indexed.
  eapply (follows_next _ [(Mode 2 4, 1); (Mode 6 8, 8)] 1 (Mode 4 1) 2);
    [apply perm_swap | simpl; lia | reflexivity |].
  eapply (follows_next _ [(Mode 6 8, 8)] 4 (Mode 2 4) 1); [reflexivity | simpl; lia | reflexivity |].
  eapply (follows_next _ [] 8 (Mode 6 8) 8); [reflexivity | simpl; lia | reflexivity |].
  apply follows_end. simpl. tauto.
Qed.

(* nullspace((3,7):(0,0)) = (3,7):(1,3), of (2,4,6):(1,2,0) it is 6:8. *)
Example nullspace_of_zeros : nullspace [Mode 3 0; Mode 7 0] = [Mode 3 1; Mode 7 3].
Proof. reflexivity. Qed.
Example nullspace_of_last : nullspace [Mode 2 1; Mode 4 2; Mode 6 0] = [Mode 6 8].
Proof. reflexivity. Qed.

(* left_inverse((4,6):(8,1)) = (8,4):(4,1), of 4:2 it is (2,4):(0,1), of (4,8):(1,5) it is (5,8):(1,4). *)
Example left_of_rows : left_inverse [Mode 4 8; Mode 6 1] [(Mode 6 1, 4); (Mode 4 8, 1)]
  = Layout [Mode 8 4; Mode 4 1] 0.
Proof. reflexivity. Qed.
Example left_of_gaps : left_inverse [Mode 4 2] [(Mode 4 2, 1)] = Layout [Mode 2 0; Mode 4 1] 0.
Proof. reflexivity. Qed.
Example left_of_padded : left_inverse [Mode 4 1; Mode 8 5] [(Mode 4 1, 1); (Mode 8 5, 4)]
  = Layout [Mode 5 1; Mode 8 4] 0.
Proof. reflexivity. Qed.

(* Bits 0 and 3 exchanged: 0001 is 1000. *)
Example exchange : map (swap 0 3) [0; 1; 8; 9; 6] = [0; 8; 1; 9; 6].
Proof. reflexivity. Qed.

(* 2:(2^63 - 1) would have a cosize of 2^63, so it is refused; one stride less is the largest. *)
Example too_far : Bounds.new [Mode 2 9223372036854775807] 0 = Bounds.Refused.
Proof. reflexivity. Qed.
Example farthest : Bounds.cosize [Mode 2 9223372036854775806] 0 = Bounds.Got 9223372036854775807.
Proof. reflexivity. Qed.

(* ((4,2),(4,3)):((4,16),(1,32)) at (1,5), and at (8,0), which is outside. *)
Example axes_at : Bounds.offset_at [[Mode 4 4; Mode 2 16]; [Mode 4 1; Mode 3 32]] [1; 5] 0 = Bounds.Got 37.
Proof. reflexivity. Qed.
Example axes_outside : Bounds.offset_at [[Mode 4 4; Mode 2 16]; [Mode 4 1; Mode 3 32]] [8; 0] 0 = Bounds.Refused.
Proof. reflexivity. Qed.

(* Sw<3,3,3> at 5 * 64, and the bits (2,4,1), which go round, at 1234. *)
Example swizzled : (Bounds.swizzle_field 3 3 3 320, Bounds.swizzle_matrix [2; 4; 1] 1234) = (360, 1236).
Proof. reflexivity. Qed.
