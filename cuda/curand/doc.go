// Package curand fills device memory with random numbers from NVIDIA's cuRAND, which it opens at run time.
//
//	g, err := curand.New(s, curand.Options{Kind: curand.Philox, Seed: 42}) // for the stream s of a GPU
//	if errors.Is(err, curand.ErrNoLibrary) { ... } // the error lists where the package looked
//	defer g.Close()
//	err = curand.Uniform(g, x.All())               // in (0, 1]
//	err = curand.Normal(g, y.All(), 0, 1)
//	err = s.Synchronize(ctx)
//
// A generator continues its sequence where the previous call ended. Seek moves the generator to another position of the
// sequence. Calls only enqueue work on the generator's stream, and allocate nothing. After an error, later calls on the
// stream return this error until Synchronize has returned it, as after a failed launch. A graph cannot record these
// calls, because each run of the graph would produce the same numbers.
//
// The package needs cuRAND and a device of package cuda. Package prim fills slices with random
// numbers that are the same on all devices. Package gpu generates random numbers in kernels.
package curand
