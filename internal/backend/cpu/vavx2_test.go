package cpu_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// avx2Instructions are those of vector code for AVX2, of "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2, which
// have a VEX encoding and ask for AVX, AVX2 or FMA.
const avx2Instructions = `
VADDPD VADDPS VBLENDVPS VBROADCASTSD VBROADCASTSS VCMPPD VCMPPS VCVTDQ2PD VCVTDQ2PS VCVTPD2PSY VCVTPS2PD VCVTTPD2DQY VCVTTPS2DQ
VDIVPD VDIVPS VEXTRACTI128 VFMADD231PD VFMADD231PS VGATHERQPD VGATHERQPS VINSERTI128 VMASKMOVPS VMAXPD VMAXPS VMINPD VMINPS
VMOVD VMOVMSKPS VMOVQ VMOVUPS VMULPD VMULPS VPADDD VPADDQ VPAND VPANDN VPBLENDD VPBROADCASTD VPBROADCASTQ VPCMPEQD VPCMPEQQ
VPCMPGTD VPCMPGTQ VPERMQ VPEXTRD VPEXTRQ VPMOVSXDQ VPMOVZXBD VPMOVZXBQ VPMOVZXDQ VPMULLD VPMULUDQ VPOR VPSHUFD VPSLLD VPSLLQ VPSLLVD
VPSLLVQ VPSRAD VPSRAVD VPSRLQ VPSRLVD VPSRLVQ VPSUBD VPSUBQ VPTEST VPXOR VROUNDPD VROUNDPS VSHUFPS VSQRTPD VSQRTPS VSUBPD VSUBPS VZEROUPPER`

// TestNoAVX512 looks for other instructions and registers, which a processor that has no more would not know: the machine that
// tests run on may.
func TestNoAVX512(t *testing.T) {
	known := map[string]bool{}
	for _, name := range strings.Fields(avx2Instructions) {
		known[name] = true
	}
	files, err := filepath.Glob("../../../internal/conformance/*/zvector/zvector_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vector code: %v", err)
	}
	vector, wide := regexp.MustCompile(`\b[VK][A-Z0-9]+\b`), regexp.MustCompile(`\b([ZK][0-9]+|[XY](1[6-9]|[23][0-9]))\b`)
	for _, file := range append(files, "../../../bench/suite/zvector/zvector_amd64.s") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, f := range strings.Split(string(text), "\nTEXT ·")[1:] {
			name, code, _ := strings.Cut(f, "(SB)")
			if !strings.Contains(name, "AVX2") {
				continue
			}
			count++
			for line := range strings.Lines(code) {
				if strings.HasPrefix(line, "#line") || strings.HasPrefix(line, "//") {
					continue
				}
				for _, op := range vector.FindAllString(line, -1) {
					if !known[op] {
						t.Errorf("%s: %s has %s", file, name, op)
					}
				}
				if r := wide.FindString(line); r != "" {
					t.Errorf("%s: %s has %s", file, name, r)
				}
			}
		}
		if count == 0 {
			t.Errorf("%s has no function for AVX2", file)
		}
	}
}
