// Package repository loads models when they are needed, and unloads unused models.
//
//	r := repository.New(repository.Options{KeepAlive: 10 * time.Minute})
//	m, err := repository.Add(r, "smollm2", func(ctx context.Context) (*llm.Model, func() error, error) {
//		m, err := llm.Open(dev, path, llm.Options{Interrupt: ctx.Err})
//		if err != nil {
//			return nil, nil, err
//		}
//		return m, m.Close, nil
//	})
//	...
//	model, release, err := m.Use(ctx) // loads the model, unless it is loaded
//	if err != nil {
//		return err
//	}
//	defer release()
//
// A Repository contains the models of a process, by name. The models may have different types. Each Model is in one of five states:
//
//	            Use or Load               success
//	Unloaded ----------------> Loading ------------> Ready
//	    ^                      |    ^                  |
//	    |              failure |    | Load, or Use     | not used for Options.KeepAlive,
//	    |                      v    | after a while    | Unload, or lack of memory
//	    +------ Unload ------- Failed                  |
//	    |                                              v
//	    +------------------------------------------ Unloading
//
// Any number of goroutines may use a model. If a use begins while the model is being loaded, the use waits. A model is unloaded only when no use is
// in progress. If there is too little device memory for a load, the Repository unloads the model that has been unused for the longest time, and tries
// again.
package repository
