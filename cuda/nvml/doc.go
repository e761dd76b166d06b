// Package nvml reads the state of a machine's GPUs from NVIDIA's management library: the name, load, memory, power,
// temperatures, clocks, links and errors of each GPU, and the processes that use the GPU. It reads the same data as
// nvidia-smi. It lists all GPUs, even those that CUDA_VISIBLE_DEVICES hides.
//
//	lib, err := nvml.Open()
//	if err != nil { return err } // the error lists where the package looked, and how to get the library
//	defer lib.Close()
//	gpus, err := lib.Devices()
//	for _, d := range gpus {
//		r, err := d.Read()
//		if watts, ok := r.Power.Get(); ok { fmt.Println(d.Name(), watts) }
//	}
//
// The package creates no context on a GPU, so reading does not disturb running programs. It changes no
// settings. Its device numbers may differ from those of package cuda: match devices by bus or UUID. Multiple
// goroutines may invoke all methods simultaneously.
package nvml
