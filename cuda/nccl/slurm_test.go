package nccl_test

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cuda/nccl"
)

// TestLaunched reads the variables of launchers.
func TestLaunched(t *testing.T) {
	for _, x := range []struct {
		env  string
		want nccl.Process
		fail string // a part of the error
	}{
		{"", nccl.Process{}, ""},
		{"RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 MASTER_ADDR=h MASTER_PORT=7 GOPHERWARP_JOB_SECRET=s SLURM_STEP_ID=0 SLURM_PROCID=9", nccl.Process{Options: nccl.Options{Address: "h:7", Secret: "s", Rank: 3, World: 8}, LocalRank: 1}, ""},
		{"RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 MASTER_ADDR=h MASTER_PORT=7", nccl.Process{}, ""},
		{"RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 MASTER_PORT=7", nccl.Process{}, "MASTER_ADDR"},
		{"SLURM_PROCID=0 SLURM_NTASKS=4", nccl.Process{}, ""}, // a batch script, not a step
		{"SLURM_STEP_ID=1 SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_LOCALID=0 SLURM_JOB_ID=10003 SLURM_STEP_NODELIST=gpu[07-09,12],x", nccl.Process{Options: nccl.Options{Address: "gpu07:20008", Rank: 2, World: 4}, LocalRank: 0}, ""},
		{"SLURM_STEP_ID=0 SLURM_PROCID=5 SLURM_STEP_NUM_TASKS=8 SLURM_NTASKS=4 SLURM_LOCALID=1 MASTER_ADDR=m MASTER_PORT=9 GOPHERWARP_JOB_SECRET=s", nccl.Process{Options: nccl.Options{Address: "m:9", Secret: "s", Rank: 5, World: 8}, LocalRank: 1}, ""},
		{"SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_LOCALID=0 SLURM_STEP_NODELIST=a1,b2", nccl.Process{Options: nccl.Options{Address: "a1:20000", Rank: 0, World: 4}, LocalRank: 0}, ""},
		{"SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_LOCALID=0 SLURM_STEP_NODELIST=r[1-2]n[03,05]", nccl.Process{Options: nccl.Options{Address: "r1n03:20000", Rank: 0, World: 4}, LocalRank: 0}, ""},
		{"SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_LOCALID=0 SLURM_STEP_NODELIST=r[1", nccl.Process{}, "MASTER_ADDR"},
		{"SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=x SLURM_LOCALID=0", nccl.Process{}, `"x"`},
	} {
		env := map[string]string{}
		for field := range strings.FieldsSeq(x.env) {
			name, value, _ := strings.Cut(field, "=")
			env[name] = value
		}
		got, several, err := nccl.Launched(func(name string) string { return env[name] })
		switch {
		case x.fail != "":
			if err == nil || !strings.Contains(err.Error(), x.fail) {
				t.Errorf("%s: %v", x.env, err)
			}
		case err != nil || several != (x.want.World > 1) || several && got != x.want:
			t.Errorf("%s: %+v, %v, %v, want %+v", x.env, got, several, err, x.want)
		}
	}
}
