package public

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
)

// The suites that the programs come from, which are the groups of the cases.
const (
	Rodinia   = "Rodinia"
	PolyBench = "PolyBench-GPU"
	SHOC      = "SHOC"
	Parboil   = "Parboil"
	Samples   = "CUDA samples"
	Numba     = "numba"
)

//go:embed *.cu
var sources embed.FS

// Suite returns the programs and their twins.
func Suite() harness.Suite { return harness.Suite{Cases: cases(), Twins: twins()} }

// twins joins the CUDA C++ files.
func twins() string {
	var b strings.Builder
	files, err := sources.ReadDir(".")
	for _, f := range files {
		var text []byte
		if text, err = sources.ReadFile(f.Name()); err != nil {
			break
		}
		fmt.Fprintf(&b, "#line 1 %q\n%s", f.Name(), text)
	}
	if err != nil {
		panic("BUG: " + err.Error()) // the files are part of the program
	}
	return b.String()
}

// Run measures the programs, as harness.Run does.
func Run(ctx context.Context, dev *device.Device, o harness.Options) (*report.Report, error) {
	r, err := harness.Run(ctx, dev, Suite(), o)
	if err != nil {
		return nil, err
	}
	r.Public = true
	return r, nil
}

// cases returns all programs in the order in which they run.
func cases() []harness.Case {
	return []harness.Case{
		{Name: "srad", Group: Rodinia, About: "speckle-reducing anisotropic diffusion of an n x n image", Big: 2048, Small: 48, Make: newSRAD},
		{Name: "backprop", Group: Rodinia, About: "forward pass and weight update of a layer of n inputs", Big: 1 << 19, Small: 256, Make: newBackprop},
		{Name: "gaussian", Group: Rodinia, About: "elimination in an n x n system", Big: 1024, Small: 36, Make: newGaussian},
		{Name: "hotspot3D", Group: Rodinia, About: "heat in 8 layers of n x n cells", Big: 512, Small: 64, Make: newHotspot3D},
		{Name: "streamcluster", Group: Rodinia, About: "gain of opening a center (pgain), n points", Big: 1 << 18, Small: 1024, Make: newStreamcluster},
		{Name: "particlefilter", Group: Rodinia, About: "a step of n particles that follow a disk in a video", Big: 1 << 14, Small: 1024, Make: newParticlefilter},
		{Name: "lavaMD", Group: Rodinia, About: "forces of particles in n x n x n boxes", Big: 10, Small: 2, Make: newLavaMD},
		{Name: "nn", Group: Rodinia, About: "distances of n places from one", Big: 1 << 25, Small: 1000, Make: newNN},
		{Name: "dwt2d", Group: Rodinia, About: "5/3 wavelets of an n x n image", Big: 4096, Small: 64, Make: newDWT2D},

		{Name: "atax", Group: PolyBench, About: "an n x n matrix, then its transpose, by a vector", Big: 4096, Small: 100, Make: newATAX},
		{Name: "bicg", Group: PolyBench, About: "an n x n matrix and its transpose by vectors", Big: 4096, Small: 100, Make: newBICG},
		{Name: "correlation", Group: PolyBench, About: "correlations of the columns of an n x n matrix", Big: 2048, Small: 50, Make: newCorrelation},
		{Name: "fdtd2d", Group: PolyBench, About: "20 steps of fields at n x n points", Big: 2048, Small: 50, Make: newFDTD2D},
		{Name: "gramschmidt", Group: PolyBench, About: "orthonormal columns of an n x n matrix", Big: 512, Small: 40, Make: newGramschmidt},
		{Name: "syr2k", Group: PolyBench, About: "rank-2k update of an n x n matrix", Big: 1024, Small: 50, Make: newSYR2K},

		{Name: "md", Group: SHOC, About: "Lennard-Jones forces of n x n x n atoms", Big: 42, Small: 7, Make: newMD},
		{Name: "stencil2d", Group: SHOC, About: "4 steps of 9 points of an n x n grid", Big: 4096, Small: 256, Make: newStencil2D},
		{Name: "md5hash", Group: SHOC, About: "search for an MD5 digest among n keys", Big: 10_000_000, Small: 5000, Make: newMD5Hash},
		{Name: "fft", Group: SHOC, About: "n transforms of 512 points", Big: 1 << 16, Small: 3, Make: newFFT},

		{Name: "cutcp", Group: Parboil, About: "Coulomb potential in n x n x n cubes of a lattice", Big: 16, Small: 1, Make: newCutcp},
		{Name: "mri-q", Group: Parboil, About: "matrix Q of n voxels for MRI reconstruction", Big: 1 << 18, Small: 256, Make: newMRIQ},
		{Name: "sad", Group: Parboil, About: "block matching in frames of n x n/2 pixels", Big: 1024, Small: 32, Make: newSAD},
		{Name: "tpacf", Group: Parboil, About: "angles between n directions", Big: 4096, Small: 48, Make: newTPACF},

		{Name: "binomialOptions", Group: Samples, About: "n options by binomial trees of 2048 steps", Big: 1024, Small: 1, Make: newBinomialOptions},
		{Name: "quasirandomGenerator", Group: Samples, About: "n points of a low-discrepancy sequence, n quantiles", Big: 1 << 24, Small: 40000, Make: newQuasirandom},
		{Name: "dct8x8", Group: Samples, About: "cosine transforms of 8 x 8 pixels of an n x n image", Big: 4096, Small: 64, Make: newDCT8x8},
		{Name: "mergeSort", Group: Samples, About: "n keys with values", Big: 1 << 22, Small: 4096, Make: newMergeSort},
		{Name: "FDTD3d", Group: Samples, About: "2 steps of 25 points of an n x n x n volume", Big: 384, Small: 32, Make: newFDTD3D},
		{Name: "eigenvalues", Group: Samples, About: "eigenvalues of n matrices of 512 rows", Big: 264, Small: 1, Make: newEigenvalues},

		{Name: "laplace", Group: Numba, About: "4 steps of Laplace's equation on an n x n grid", Big: 4096, Small: 60, Make: newLaplace},
	}
}

// restore returns a Work.Restore that copies the initial contents of an array.
func restore[T any](to, initial *harness.Array[T]) func(*device.Stream) error {
	return func(s *device.Stream) error { return device.Copy(s, to.All(), initial.All()) }
}

// plane returns the grid of blocks of a size that covers width x height elements.
func plane(width, height int, block device.Dim) device.Grid {
	return device.Cover2(width, height, block)
}
