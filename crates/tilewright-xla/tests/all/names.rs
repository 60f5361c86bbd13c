//! Every operation can be found by XLA's name: as a function's name, or as a doc alias.

use std::path::Path;

/// XLA's names of operations on shapes, layouts, indices and permutations.
#[rustfmt::skip]
const OFFERED: &[&str] = &[
    // IndexUtil
    "MultidimensionalIndexToLinearIndex", "LinearIndexToMultidimensionalIndex", "BumpIndices",
    "GetDimensionStride", "IndexInBounds", "CompareIndices",
    // LayoutUtil
    "MakeLayout", "MakeLayoutFromMajorToMinor", "MakeDescendingLayout", "MakeAscendingLayout",
    "HasDescendingLayout", "HasAscendingLayout", "IsMonotonicWithDim0Major",
    "IsMonotonicWithDim0Minor", "GetDefaultLayoutForShape", "GetDefaultLayoutForRank",
    "GetDefaultLayoutForR2", "GetDefaultLayoutForR3", "GetDefaultLayoutForR4",
    "SetToDefaultLayout", "GetWithDefaultLayout", "ValidateLayoutInShape",
    "ValidateLayoutForShape", "ClearLayout", "ClearTiles", "HasLayout", "HasAnyLayout",
    "HasCustomElementSizeInBits", "Equal", "MinorToMajor", "Minor", "Major",
    "MakeLogicalToPhysical", "HumanString", "CopyLayoutBetweenShapes", "LayoutsInShapesEqual",
    "AreDimensionsConsecutive", "MoveDimToMajor", "LinearIndex", "LinearIndexForNestedTiling",
    "DelinearizeIndexForNestedTiling", "IsUntiledLayout", "MoveDimToMinor", "MemorySpace",
    "ByteStridesIsMajorToMinor", "MaxSplitSize", "MaxElementsInPerSplit", "GetSplitConfig",
    // ShapeUtil: sizes
    "ElementsIn", "StaticExtentProduct", "ElementsInRecursive", "ByteSizeOf",
    "ByteSizeOfElements", "ByteSizeOfPrimitiveType", "ByteSizeOfTupleIndexTable",
    "ElementSizeInBits", "ArraySize", "ArrayDataSize", "ByteStrides",
    // predicates and equality
    "IsScalar", "IsEffectiveScalar", "IsScalarWithElementType", "IsZeroElementArray",
    "HasPrimitiveType", "ElementIsIntegral", "ElementIsFloating", "ElementIsComplex",
    "ElementIsSigned", "ElementIsIntegralWithBits", "ElementHasBitWidth", "IsNestedTuple",
    "IsEmptyTuple", "HasDegenerateDimensions", "TrueNumDimensions", "SameDimensions",
    "SameRank", "SameElementType", "SameElementTypeIgnoringFpPrecision",
    "HigherPrecisionElementType", "ElementCanUpcast", "Compatible",
    "CompatibleIgnoringElementType", "CompatibleIgnoringFpPrecision", "CompatibleKind",
    "EqualIgnoringElementType", "EqualIgnoringFpPrecision", "EqualStructure",
    "DynamicArrayShapeIsCompatible", "DynamicShapeIsCompatible",
    // makers and edits of dims
    "MakeShape", "MakeValidatedShape", "MakeScalarShape", "MakeShapeWithType",
    "MakeBufferShape", "MakeValidatedBufferShape", "MakeOpaqueShape", "MakeTokenShape",
    "MakeNil", "MakeShapeWithDenseLayout", "MakeValidatedShapeWithDenseLayout",
    "MakeShapeWithDescendingLayout", "MakeShapeWithDescendingLayoutAndSamePhysicalLayout",
    "MakeStaticShape", "MakeShapeWithStaticDimensions", "MakeTupleShape",
    "MakeTupleShapeWithPtrs", "MakeMaybeTupleShape", "AppendShapeToTuple", "UpdateTupleShape",
    "SliceTuple", "GetDimension", "GetDimensionNumber", "ChangeElementType",
    "ComplexComponentShape", "AppendMajorDimension", "PrependMajorDimension",
    "AppendMinorDimension", "InsertDimensionAtIndex", "InsertDimensionsAtIndex",
    "DeleteDimension", "DeleteDimensions", "FilterDimensions", "DropDegenerateDimensions",
    "PermuteDimensions", "ReorderLogicalDimensions", "IsEffectivelyMostMajorDimension",
    "CopyDynamicDimensions", "UpdateDynamicDimension", "UpdateElementSizeInBits",
    "DeviceShapeIsHostShape", "DeviceShapeToHostShape", "PackedFactorFor1DInterleavedArray",
    // free reshapes and transposes
    "TransposeIsBitcast", "ReshapeIsBitcast", "IsReshapeOrTransposeBitcast",
    "DeduceTransposeDimensionsForBitcast", "DecomposeBitcast", "DecomposeBitcastToTrt",
    "AlignLayouts", "InsertedOrDeleted1SizedDimensions", "DimensionsUnmodifiedByReshape",
    "ReshapeLeavesDimensionsUnmodified", "CommonFactors",
    // walks and tuples
    "ForEachIndex", "ForEachIndexWithStatus", "ForEachIndexNoStatus", "ForEachSubshape",
    "ForEachSubshapeWithStatus", "ForEachMutableSubshape", "ForEachMutableSubshapeWithStatus",
    "ForEachSubshapePostOrder", "ForEachMutableSubshapePostOrder", "ForEachLeafShape",
    "ForEachMutableLeafShape", "GetSubshape", "TryGetSubshape", "IndexIsValid", "IsLeafIndex",
    "GetLeafCount", "GetLeafShapes", "SubshapeCount", "TupleElementCount",
    "FlattenTupleShape",
    // permutations and packing
    "Permute", "PermuteInverse", "ComposePermutations", "InversePermutation", "IsPermutation",
    "IsIdentityPermutation", "PackIntN", "UnpackIntN",
    // checks
    "ValidateShape", "ValidateShapeWithOptionalLayout",
    // types
    "ByteWidth", "BitWidth", "IsSubByteNonPredType",
    // the padding of the original proto
    "IsPadded", "PaddedDimensions", "PaddedDimension", "GetPaddingValue",
];

/// Names without a counterpart; `docs/explanation/comparison.md` gives the reasons.
const NOT_OFFERED: &[&str] = &[
    "ForEachIndexParallel",
    "ForEachIndexParallelWithStatus",
    "IsInitialized",
    "SerializedSize",
    "ShapeLayout",
];

/// Returns the text of every source file under a folder.
fn source(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text += &source(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text += &std::fs::read_to_string(&path).unwrap();
        }
    }
    text
}

/// Converts `BumpIndices` to `bump_indices`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// Returns whether the source declares a public function of this name or alias.
fn is_found(source: &str, name: &str) -> bool {
    let snake = snake_case(name);
    let declared = |end| {
        let plain = source.contains(&format!("pub fn {snake}{end}"));
        plain || source.contains(&format!("pub const fn {snake}{end}"))
    };
    source.contains(&format!("doc(alias = \"{name}\")")) || declared('(') || declared('<')
}

#[test]
fn every_name_is_found_or_refused_with_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = source(&root.join("src"));
    let missing: Vec<_> = OFFERED.iter().filter(|name| !is_found(&source, name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(OFFERED.len() > 150 && !is_found(&source, "IsHappy"));

    let comparison =
        std::fs::read_to_string(root.join("../../docs/explanation/comparison.md")).unwrap();
    let refused = comparison.lines().find(|line| line.starts_with("Not offered: `")).unwrap();
    for name in NOT_OFFERED {
        assert!(refused.contains(&format!("`{name}`")), "{name}");
        assert!(!is_found(&source, name), "{name}");
    }
}
