// Package curand fills device memory with random numbers by NVIDIA's cuRAND, opened at run time where it is
// there.
//
//	g, err := curand.New(s, curand.Options{Kind: curand.Philox, Seed: 42}) // for the stream s of a GPU
//	if errors.Is(err, curand.ErrNoLibrary) { ... } // the error says where it looked
//	defer g.Close()
//	err = curand.Uniform(g, x.All())               // in (0, 1]
//	err = curand.Normal(g, y.All(), 0, 1)
//	err = s.Synchronize(ctx)
//
// A generator goes on where its last call ended; Seek moves it. Calls only enqueue work on the generator's
// stream, and allocate nothing; errors stick to the stream as those of launches do. A graph cannot record
// them: it would repeat the same numbers without the generator's knowledge.
//
// The numbers are those of the library, on GPUs alone. Package prim fills slices with numbers that are the same
// on all devices, and package gpu has random numbers within kernels.
package curand
