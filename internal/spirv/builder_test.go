package spirv

import (
	"slices"
	"testing"
)

func TestOnce(t *testing.T) {
	b := New()
	word := b.Type(OpTypeInt, 32, 0)
	if again := b.Type(OpTypeInt, 32, 0); again != word {
		t.Errorf("a second declaration is %d, want %d", again, word)
	}
	if wide := b.Type(OpTypeInt, 64, 0); wide == word {
		t.Error("two types have one number")
	}
	if one, other := b.Constant(word, 1), b.Constant(word, 2); one == other || one != b.Constant(word, 1) {
		t.Error("constants are not declared once each")
	}
	b.Capability(CapabilityInt64)
	b.Capability(CapabilityInt64)
	if want := []uint32{2<<16 | uint32(OpCapability), CapabilityInt64}; !slices.Equal(b.capabilities, want) {
		t.Errorf("capabilities are %x, want %x", b.capabilities, want)
	}
}

// TestModule compares a module with one function, which does nothing, word by word.
func TestModule(t *testing.T) {
	b := New()
	b.Capability(CapabilityShader)
	b.Emit(OpReturn)
	got := b.Module(Entry{Name: "main", Modes: [][]uint32{{ModeLocalSize, 8, 4, 1}}})
	want := []uint32{
		0x07230203, 0x00010500, 0, 5, 0,
		2<<16 | 17, 1, // OpCapability Shader
		3<<16 | 14, 5348, 1, // OpMemoryModel PhysicalStorageBuffer64 GLSL450
		5<<16 | 15, 5, 3, 0x6e69616d, 0, // OpEntryPoint GLCompute %3 "main"
		6<<16 | 16, 3, 17, 8, 4, 1, // OpExecutionMode %3 LocalSize 8 4 1
		2<<16 | 19, 1, // %1 = OpTypeVoid
		3<<16 | 33, 2, 1, // %2 = OpTypeFunction %1
		5<<16 | 54, 1, 3, 0, 2, // %3 = OpFunction %1 None %2
		2<<16 | 248, 4, // %4 = OpLabel
		1<<16 | 253, // OpReturn
		1<<16 | 56,  // OpFunctionEnd
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}
