package stubdll

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"slices"
	"testing"
)

// TestImage parses an image as the loader of Windows does.
func TestImage(t *testing.T) {
	functions := map[string]Code{"sum": Sum(11), "one": Return(1), "store": Store(13000)}
	f, err := pe.NewFile(bytes.NewReader(Image("stub.dll", functions)))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != pe.IMAGE_FILE_MACHINE_AMD64 || f.Characteristics&pe.IMAGE_FILE_DLL == 0 || len(f.Sections) != 1 {
		t.Errorf("the header is %+v, %d sections", f.FileHeader, len(f.Sections))
	}
	s := f.Sections[0]
	body, err := s.Data()
	if err != nil || s.VirtualSize > uint32(len(body)) || s.VirtualAddress != sectionAt {
		t.Fatalf("the section is %+v, %v", s.SectionHeader, err)
	}
	optional := f.OptionalHeader.(*pe.OptionalHeader64)
	if end := s.VirtualAddress + s.VirtualSize; optional.SizeOfImage < end || optional.SizeOfImage%optional.SectionAlignment != 0 {
		t.Errorf("an image of %#x bytes, the section ends at %#x", optional.SizeOfImage, end)
	}
	directory := optional.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_EXPORT]
	var head exports
	read := func(at uint32, v any) {
		t.Helper()
		if _, err := binary.Decode(body[at-sectionAt:], binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	text := func(at uint32) string { s, _, _ := bytes.Cut(body[at-sectionAt:], []byte{0}); return string(s) }
	read(directory.VirtualAddress, &head)
	if name := text(head.Name); name != "stub.dll" || head.Names != 3 || head.Functions != 3 {
		t.Errorf("%q has %d functions", name, head.Functions)
	}
	var last string
	for i := range head.Names {
		var name, function uint32
		var ordinal uint16
		read(head.AtNames+4*i, &name)
		read(head.AtOrdinal+2*i, &ordinal)
		read(head.AtFunctions+4*uint32(ordinal), &function)
		if text(name) <= last {
			t.Errorf("%q after %q", text(name), last)
		}
		last = text(name)
		want := functions[last]
		if got := body[function-sectionAt:][:len(want)]; !slices.Equal(got, want) || function >= directory.VirtualAddress {
			t.Errorf("%s is % x, want % x", last, got, want)
		}
	}
	if end := directory.VirtualAddress + directory.Size; end != s.VirtualAddress+s.VirtualSize {
		t.Errorf("the table ends at %#x, the section at %#x", end, s.VirtualAddress+s.VirtualSize)
	}
}
