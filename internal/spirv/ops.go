package spirv

// Op is an opcode.
type Op uint16

// The opcodes that compute shaders of this module use (section 3.49 of the specification).
const (
	OpExtension                     Op = 10
	OpExtInstImport                 Op = 11
	OpExtInst                       Op = 12
	OpMemoryModel                   Op = 14
	OpEntryPoint                    Op = 15
	OpExecutionMode                 Op = 16
	OpCapability                    Op = 17
	OpTypeVoid                      Op = 19
	OpTypeBool                      Op = 20
	OpTypeInt                       Op = 21
	OpTypeFloat                     Op = 22
	OpTypeVector                    Op = 23
	OpTypeArray                     Op = 28
	OpTypeStruct                    Op = 30
	OpTypePointer                   Op = 32
	OpTypeFunction                  Op = 33
	OpConstantTrue                  Op = 41
	OpConstantFalse                 Op = 42
	OpConstant                      Op = 43
	OpFunction                      Op = 54
	OpFunctionEnd                   Op = 56
	OpVariable                      Op = 59
	OpLoad                          Op = 61
	OpStore                         Op = 62
	OpAccessChain                   Op = 65
	OpDecorate                      Op = 71
	OpMemberDecorate                Op = 72
	OpCompositeConstruct            Op = 80
	OpCompositeExtract              Op = 81
	OpConvertFToU                   Op = 109
	OpConvertFToS                   Op = 110
	OpConvertSToF                   Op = 111
	OpConvertUToF                   Op = 112
	OpUConvert                      Op = 113
	OpSConvert                      Op = 114
	OpFConvert                      Op = 115
	OpConvertUToPtr                 Op = 120
	OpBitcast                       Op = 124
	OpSNegate                       Op = 126
	OpIAdd                          Op = 128
	OpFAdd                          Op = 129
	OpISub                          Op = 130
	OpFSub                          Op = 131
	OpIMul                          Op = 132
	OpFMul                          Op = 133
	OpUDiv                          Op = 134
	OpSDiv                          Op = 135
	OpFDiv                          Op = 136
	OpUMod                          Op = 137
	OpLogicalEqual                  Op = 164
	OpLogicalNotEqual               Op = 165
	OpLogicalOr                     Op = 166
	OpLogicalAnd                    Op = 167
	OpLogicalNot                    Op = 168
	OpSelect                        Op = 169
	OpIEqual                        Op = 170
	OpINotEqual                     Op = 171
	OpUGreaterThan                  Op = 172
	OpSGreaterThan                  Op = 173
	OpUGreaterThanEqual             Op = 174
	OpSGreaterThanEqual             Op = 175
	OpULessThan                     Op = 176
	OpSLessThan                     Op = 177
	OpULessThanEqual                Op = 178
	OpSLessThanEqual                Op = 179
	OpFOrdEqual                     Op = 180
	OpFUnordEqual                   Op = 181
	OpFOrdNotEqual                  Op = 182
	OpFUnordNotEqual                Op = 183
	OpFOrdLessThan                  Op = 184
	OpFUnordLessThan                Op = 185
	OpFOrdGreaterThan               Op = 186
	OpFUnordGreaterThan             Op = 187
	OpFOrdLessThanEqual             Op = 188
	OpFUnordLessThanEqual           Op = 189
	OpFOrdGreaterThanEqual          Op = 190
	OpFUnordGreaterThanEqual        Op = 191
	OpShiftRightLogical             Op = 194
	OpShiftRightArithmetic          Op = 195
	OpShiftLeftLogical              Op = 196
	OpBitwiseOr                     Op = 197
	OpBitwiseXor                    Op = 198
	OpBitwiseAnd                    Op = 199
	OpNot                           Op = 200
	OpBitFieldInsert                Op = 201
	OpBitFieldUExtract              Op = 203
	OpBitReverse                    Op = 204
	OpBitCount                      Op = 205
	OpControlBarrier                Op = 224
	OpMemoryBarrier                 Op = 225
	OpAtomicLoad                    Op = 227
	OpAtomicStore                   Op = 228
	OpAtomicExchange                Op = 229
	OpAtomicCompareExchange         Op = 230
	OpAtomicIAdd                    Op = 234
	OpAtomicSMin                    Op = 236
	OpAtomicUMin                    Op = 237
	OpAtomicSMax                    Op = 238
	OpAtomicUMax                    Op = 239
	OpAtomicAnd                     Op = 240
	OpAtomicOr                      Op = 241
	OpAtomicXor                     Op = 242
	OpLoopMerge                     Op = 246
	OpSelectionMerge                Op = 247
	OpLabel                         Op = 248
	OpBranch                        Op = 249
	OpBranchConditional             Op = 250
	OpSwitch                        Op = 251
	OpReturn                        Op = 253
	OpUnreachable                   Op = 255
	OpGroupNonUniformBroadcastFirst Op = 338
	OpGroupNonUniformBallot         Op = 339
	OpGroupNonUniformShuffle        Op = 345
	OpGroupNonUniformIAdd           Op = 349
	OpGroupNonUniformSMin           Op = 353
	OpGroupNonUniformUMin           Op = 354
	OpGroupNonUniformSMax           Op = 356
	OpGroupNonUniformUMax           Op = 357
	OpGroupNonUniformBitwiseAnd     Op = 359
	OpGroupNonUniformBitwiseOr      Op = 360
	OpGroupNonUniformBitwiseXor     Op = 361
)

// Operands, by the names of the specification.
const (
	AddressingPhysicalStorageBuffer64 = 5348
	MemoryModelGLSL450                = 1

	ExecutionGLCompute = 5

	ModeLocalSize        = 17
	ModeSignedZeroInfNan = 4461
	ModeRoundingModeRTE  = 4462
	ModeDenormPreserve   = 4459

	StorageInput                 = 1
	StorageWorkgroup             = 4
	StorageFunction              = 7
	StoragePushConstant          = 9
	StoragePhysicalStorageBuffer = 5349

	DecorationBlock         = 2
	DecorationArrayStride   = 6
	DecorationBuiltIn       = 11
	DecorationAliased       = 20
	DecorationOffset        = 35
	DecorationNoContraction = 42

	BuiltInNumWorkgroups     = 24
	BuiltInWorkgroupID       = 26
	BuiltInLocalInvocationID = 27

	MemoryAligned = 0x2

	ScopeDevice    = 1
	ScopeWorkgroup = 2
	ScopeSubgroup  = 3

	SemanticsAcquire         = 0x2
	SemanticsRelease         = 0x4
	SemanticsAcquireRelease  = 0x8
	SemanticsUniformMemory   = 0x40
	SemanticsWorkgroupMemory = 0x100

	GroupReduce = 0

	CapabilityGroupNonUniform                = 61
	CapabilityGroupNonUniformArithmetic      = 63
	CapabilityGroupNonUniformBallot          = 64
	CapabilityGroupNonUniformShuffle         = 65
	CapabilityShader                         = 1
	CapabilityFloat64                        = 10
	CapabilityInt64                          = 11
	CapabilityInt64Atomics                   = 12
	CapabilityInt16                          = 22
	CapabilityInt8                           = 39
	CapabilityStorageBuffer16BitAccess       = 4433
	CapabilityStorageBuffer8BitAccess        = 4448
	CapabilitySignedZeroInfNan               = 4466
	CapabilityRoundingModeRTE                = 4467
	CapabilityDenormPreserve                 = 4464
	CapabilityPhysicalStorageBufferAddresses = 5347
	CapabilityWorkgroupExplicitLayout        = 4428
	CapabilityWorkgroupExplicitLayout8Bit    = 4429
	CapabilityWorkgroupExplicitLayout16Bit   = 4430
)

// Operations of GLSL.std.450.
const (
	GLSLRoundEven      = 2
	GLSLTrunc          = 3
	GLSLFloor          = 8
	GLSLCeil           = 9
	GLSLSin            = 13
	GLSLCos            = 14
	GLSLTanh           = 21
	GLSLExp2           = 29
	GLSLLog2           = 30
	GLSLSqrt           = 31
	GLSLInverseSqrt    = 32
	GLSLUMin           = 38
	GLSLSMin           = 39
	GLSLUMax           = 41
	GLSLSMax           = 42
	GLSLFma            = 50
	GLSLUnpackHalf2x16 = 62
	GLSLFindUMsb       = 75
)
