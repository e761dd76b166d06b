package cpu_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// avx2Instructions are those of vector code for AVX2, of "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2, which
// have a VEX encoding and ask for AVX, AVX2, FMA or F16C.
const avx2Instructions = `
VADDPD VADDPS VBLENDVPS VBROADCASTSD VBROADCASTSS VCMPPD VCMPPS VCVTDQ2PD VCVTDQ2PS VCVTPD2PSY VCVTPH2PS VCVTPS2PD VCVTPS2PH VCVTTPD2DQY VCVTTPS2DQ
VDIVPD VDIVPS VEXTRACTI128 VFMADD231PD VFMADD231PS VGATHERQPD VGATHERQPS VINSERTI128 VMASKMOVPS VMAXPD VMAXPS VMINPD VMINPS
VMOVD VMOVMSKPS VMOVQ VMOVUPS VMULPD VMULPS VPACKUSDW VPACKUSWB VPADDD VPADDQ VPAND VPANDN VPBLENDD VPBROADCASTD VPBROADCASTQ VPCMPEQD VPCMPEQQ
VPCMPGTD VPCMPGTQ VPERMQ VPEXTRB VPEXTRD VPEXTRQ VPEXTRW VPINSRB VPINSRW
VPMOVSXBD VPMOVSXDQ VPMOVSXWD VPMOVZXBD VPMOVZXBQ VPMOVZXDQ VPMOVZXWD VPMULLD VPMULUDQ VPOR VPSHUFD VPSLLD VPSLLQ VPSLLVD
VPSLLVQ VPSRAD VPSRAVD VPSRLD VPSRLQ VPSRLVD VPSRLVQ VPSUBD VPSUBQ VPTEST VPXOR VROUNDPD VROUNDPS VSHUFPS VSQRTPD VSQRTPS VSUBPD VSUBPS VZEROUPPER`

// TestNoAVX512 looks for other instructions and registers, which a processor that has no more would not know: the machine that
// tests run on may.
func TestNoAVX512(t *testing.T) {
	known := map[string]bool{}
	for _, name := range strings.Fields(avx2Instructions) {
		known[name] = true
	}
	patterns := []string{"./internal/verify/conformance/halves"} // a sample: sweeps compile all packages
	if sweep.Whole() {
		patterns = []string{"./internal/verify/conformance/...", "./bench/suite"}
	}
	result, err := compile.Build(t.Context(), compile.Options{Dir: "../../..", Patterns: patterns})
	if err == nil {
		err = result.Diagnostics.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	vector, wide := regexp.MustCompile(`\b[VK][A-Z0-9]+\b`), regexp.MustCompile(`\b([ZK][0-9]+|[XY](1[6-9]|[23][0-9]))\b`)
	files := assembly(result)
	if len(files) == 0 {
		t.Fatal("no vector code")
	}
	for file, text := range files {
		count := 0
		for _, f := range strings.Split(text, "\nTEXT ·")[1:] {
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

// assembly returns the vector code of a build, by the names of its files.
func assembly(r *compile.Result) map[string]string {
	files := map[string]string{}
	for _, p := range r.Packages {
		for _, f := range p.Files {
			if strings.HasSuffix(f.Name, "_amd64.s") {
				files[f.Name] = string(f.Contents)
			}
		}
	}
	return files
}
