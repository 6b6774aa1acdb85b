package collective

import (
	"fmt"
	"strings"
)

// Program is one program of nccl-tests as the world prints it.
type Program struct {
	Name string
	// op is the column redop: sendrecv prints the default operation without using it.
	op string
	// perRank: every GPU has an equal part of the size, in units of 16 bytes.
	perRank bool
	// halfChecked: the in-place data is not compared.
	halfChecked bool
	pattern     pattern
}

// pattern is how the data of a program moves.
type pattern int

const (
	reduced   pattern = iota // all-reduce: NVLink SHARP helps
	gathered                 // rings over all GPUs
	exchanged                // each GPU with each other
	shifted                  // each GPU to the next one
)

func programs() []Program {
	return []Program{
		{Name: "all_reduce_perf", op: "sum", pattern: reduced},
		{Name: "all_gather_perf", op: "none", perRank: true, pattern: gathered},
		{Name: "reduce_scatter_perf", op: "sum", perRank: true, pattern: gathered},
		{Name: "alltoall_perf", op: "none", perRank: true, halfChecked: true, pattern: exchanged},
		{Name: "sendrecv_perf", op: "sum", halfChecked: true, pattern: shifted},
	}
}

// ProgramNames are the programs of nccl-tests that the world has.
func ProgramNames() []string {
	var out []string
	for _, p := range programs() {
		out = append(out, p.Name)
	}
	return out
}

// ProgramIn is the program that a command line or script starts.
func ProgramIn(text string) (Program, bool) {
	for _, p := range programs() {
		if strings.Contains(text, p.Name) {
			return p, true
		}
	}
	return Program{}, false
}

// program is that of the run: all_reduce_perf if it has none.
func (r Run) program() Program {
	if r.Program.Name == "" {
		return programs()[0]
	}
	return r.Program
}

// row is the beginning of a row: size, count, type, operation and root.
func (r Run) row(step int64) (size int64, text string) {
	const float = 4 // bytes
	p := r.program()
	size, count := step, step/float
	if p.perRank {
		const unit = 16
		part := step / int64(r.Ranks()) / unit * unit
		size, count = part*int64(r.Ranks()), part/float
	}
	return size, fmt.Sprintf("%12d  %12d  %8s  %6s  %6d", size, count, "float", p.op, -1)
}

// wrongCell is the last column of a half.
func (r Run) wrongCell(inPlace bool, wrong int) string {
	if inPlace && r.program().halfChecked {
		return "N/A"
	}
	return fmt.Sprint(wrong)
}
