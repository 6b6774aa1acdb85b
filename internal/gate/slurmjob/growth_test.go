package slurmjob

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestOutputsAreReadInLinearTime(t *testing.T) {
	growth.Linear(t, "the output of a job", func(b []byte) {
		p, _ := parse(b, "7", 4) // the work is measured
		p.logs(true)
		p.unstarted()
	},
		growth.Text{Name: "lines", Again: "0: a\n"},
		growth.Text{Name: "labels on one line", Again: "0: "},
		growth.Text{Name: "blanks", Again: " "},
		growth.Text{Name: "messages", Again: "slurmstepd: error: a\n"},
		growth.Text{Name: "tasks that failed", Again: "srun: error: gpu-01: tasks 0-3: Exited with exit code 1\n"},
		growth.Text{Name: "numbers of tasks", Head: "srun: error: gpu-01: tasks ", Again: "0-3,", Tail: "0: Exited with exit code 1\n"},
		growth.Text{Name: "lines of Pyxis", Again: "slurmstepd: error: pyxis: failed to import docker image\n"},
		growth.Text{Name: "errors of plugins", Again: "spank: required plugin "},
		growth.Text{Name: "ends of a task", Again: "0: " + taskMark + " end 0 1\n"},
		growth.Text{Name: "ends of the job", Again: batchMark + " end 7 0\n"},
		growth.Text{Name: "digits", Again: "1"},
	)
}
