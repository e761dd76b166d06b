package stubdll

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// Code is a function: position-independent instructions that follow the calling convention of
// Windows (arguments in RCX, RDX, R8, R9, then on the stack above 40 bytes; the result in RAX).
type Code []byte

// Return returns a function that returns v.
func Return(v int32) Code { return append(little32([]byte{0xb8}, uint32(v)), 0xc3) } // mov eax, v; ret

// Store returns a function that stores v, four bytes, at the address in its first argument, and
// returns 0.
func Store(v int32) Code {
	return append(little32([]byte{0xc7, 0x01}, uint32(v)), 0x31, 0xc0, 0xc3) // mov dword [rcx], v; xor eax, eax; ret
}

// Sum returns a function that returns the sum of its n arguments, 4 to 14.
func Sum(n int) Code {
	if n < 4 || n > 14 {
		panic(fmt.Sprintf("BUG: a sum of %d arguments", n))
	}
	// mov rax, rcx; add rax, rdx; add rax, r8; add rax, r9
	c := Code{0x48, 0x89, 0xc8, 0x48, 0x01, 0xd0, 0x4c, 0x01, 0xc0, 0x4c, 0x01, 0xc8}
	for i := 4; i < n; i++ {
		c = append(c, 0x48, 0x03, 0x44, 0x24, byte(8*(i+1))) // add rax, [rsp+...]
	}
	return append(c, 0xc3)
}

func little32(to []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(to, v) }

// Offsets in the image ("PE Format", Microsoft): headers, then the only section.
const (
	sectionAt = 0x1000 // in memory
	rawAt     = 0x200  // in the file
	align     = 0x200
)

// exports is IMAGE_EXPORT_DIRECTORY.
type exports struct {
	Characteristics, Time           uint32
	Major, Minor                    uint16
	Name, Base                      uint32
	Functions, Names                uint32
	AtFunctions, AtNames, AtOrdinal uint32
}

// Image returns a library with the given name and functions.
func Image(name string, functions map[string]Code) []byte {
	body, table, size := section(name, functions)
	raw := len(body)
	body = append(body, make([]byte, -len(body)&(align-1))...)
	var w bytes.Buffer
	w.Write(append([]byte{'M', 'Z'}, make([]byte, 0x3a)...))
	put(&w, uint32(0x40)) // offset of the signature
	w.WriteString("PE\x00\x00")
	put(&w, pe.FileHeader{
		Machine: pe.IMAGE_FILE_MACHINE_AMD64, NumberOfSections: 1, SizeOfOptionalHeader: uint16(binary.Size(pe.OptionalHeader64{})),
		Characteristics: pe.IMAGE_FILE_EXECUTABLE_IMAGE | pe.IMAGE_FILE_LARGE_ADDRESS_AWARE | pe.IMAGE_FILE_DLL,
	})
	optional := pe.OptionalHeader64{
		Magic: 0x20b, SizeOfCode: uint32(len(body)), BaseOfCode: sectionAt, ImageBase: 0x1_8000_0000, SectionAlignment: sectionAt, FileAlignment: align,
		MajorOperatingSystemVersion: 6, MajorSubsystemVersion: 6, SizeOfImage: sectionAt + uint32((raw+sectionAt-1)&^(sectionAt-1)), SizeOfHeaders: rawAt,
		Subsystem:          pe.IMAGE_SUBSYSTEM_WINDOWS_CUI,
		DllCharacteristics: pe.IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA | pe.IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE | pe.IMAGE_DLLCHARACTERISTICS_NX_COMPAT,
		SizeOfStackReserve: 1 << 20, SizeOfStackCommit: 1 << 12, SizeOfHeapReserve: 1 << 20, SizeOfHeapCommit: 1 << 12, NumberOfRvaAndSizes: 16,
	}
	optional.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_EXPORT] = pe.DataDirectory{VirtualAddress: table, Size: size}
	put(&w, optional)
	put(&w, pe.SectionHeader32{
		Name: [8]uint8{'.', 't', 'e', 'x', 't'}, VirtualSize: uint32(raw), VirtualAddress: sectionAt, SizeOfRawData: uint32(len(body)),
		PointerToRawData: rawAt, Characteristics: pe.IMAGE_SCN_CNT_CODE | pe.IMAGE_SCN_MEM_EXECUTE | pe.IMAGE_SCN_MEM_READ,
	})
	w.Write(make([]byte, rawAt-w.Len()))
	w.Write(body)
	return w.Bytes()
}

// section returns the section's bytes: the functions, then the export table, whose address and size
// it also returns. A function inside the table would be a reference to another library.
func section(name string, functions map[string]Code) (body []byte, table, size uint32) {
	names := slices.Sorted(maps.Keys(functions)) // the loader uses binary search
	at := func() uint32 { return sectionAt + uint32(len(body)) }
	var functionsAt, namesAt []uint32
	for _, n := range names {
		functionsAt = append(functionsAt, at())
		body = append(body, functions[n]...)
		body = append(body, make([]byte, -len(body)&15)...)
	}
	table = at()
	n := uint32(len(names))
	head := exports{Base: 1, Functions: n, Names: n}
	head.AtFunctions = table + uint32(binary.Size(head))
	head.AtNames = head.AtFunctions + 4*n
	head.AtOrdinal = head.AtNames + 4*n
	texts, textsAt := []byte{}, head.AtOrdinal+2*n
	text := func(s string) uint32 {
		begins := textsAt + uint32(len(texts))
		texts = append(append(texts, s...), 0)
		return begins
	}
	head.Name = text(name)
	for _, n := range names {
		namesAt = append(namesAt, text(n))
	}
	var w bytes.Buffer
	put(&w, head)
	put(&w, functionsAt)
	put(&w, namesAt)
	for i := range names {
		put(&w, uint16(i))
	}
	w.Write(texts)
	return append(body, w.Bytes()...), table, uint32(w.Len())
}

// put writes fixed-size data, which cannot fail.
func put(w *bytes.Buffer, v any) {
	if err := binary.Write(w, binary.LittleEndian, v); err != nil {
		panic("BUG: " + err.Error())
	}
}
