package collective

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
)

// Device is the GPU of a rank.
type Device struct {
	Index   int
	BusID   string // 0000:1B:00.0
	Product string
}

// HCA is one port of the compute fabric on a node.
type HCA struct {
	Name string
	// Gbps is the data rate; 0: the port is down.
	Gbps int
	// Part of the rate that its rail gives under load; 0: all of it.
	Part float64
}

// Node is one host of the run with one rank per device.
type Node struct {
	// Host is the ranks' gethostname.
	Host    string
	Address string // of the out-of-band interface, without port
	Devices []Device
	HCAs    []HCA
	// NVLS: NVLink multicast is available.
	NVLS bool
	// GPUDirect: the HCAs can access GPU memory.
	GPUDirect bool
	// Socket: NCCL finds no InfiniBand on this host.
	Socket bool
	// Slow is the host's factor of the run time; 1: healthy.
	Slow float64
	// Cluster is the UUID of its NVLink domain of several nodes; empty: NVLink is inside of the node.
	Cluster string
	// MNNVLOff: NCCL_MNNVL_ENABLE is 0.
	MNNVLOff bool
}

// Run is a program of nccl-tests, repeated: with mpirun, or one process.
type Run struct {
	// Program is all_reduce_perf if it has no name.
	Program     Program
	Fabric      world.HardwareFabric
	CUDA        string // "13.0"
	Nodes       []Node
	MinBytes    int64
	MaxBytes    int64
	Repetitions int
	// OneProcess: one process without mpirun has all GPUs (-g).
	OneProcess bool
	// HCASelection is NCCL_IB_HCA; empty: all.
	HCASelection string
	// Debug is NCCL_DEBUG=INFO.
	Debug bool
	Seed  uint64
	// Corrupt makes some elements wrong.
	Corrupt bool
	// Uplinks is the part of the links between leaf and spine switches that traffic uses; 0: all of it.
	Uplinks float64
	// Truncated ends the output in the middle of the first table.
	Truncated bool
}

// Ranks is the number of GPUs.
func (r Run) Ranks() int {
	n := 0
	for _, node := range r.Nodes {
		n += len(node.Devices)
	}
	return n
}

// Write prints the run and returns the exit code of the surrounding script, which stops at the
// first failed repetition.
func (r Run) Write(w io.Writer) (int, error) {
	if r.Ranks() == 0 || r.MinBytes <= 0 || r.MaxBytes < r.MinBytes {
		_, err := fmt.Fprintf(w, "%s: nothing to run: %d ranks, %d to %d bytes\n", r.program().Name, r.Ranks(), r.MinBytes, r.MaxBytes)
		return 1, err
	}
	bw := bufio.NewWriter(w)
	exit := 0
	for rep := range max(r.Repetitions, 1) {
		p := &printer{w: bw}
		r.writeHeader(p)
		if r.Debug {
			r.writeDebug(p, rep)
		}
		failed := r.writeTable(p, rep)
		if p.err != nil {
			return 1, fmt.Errorf("write collective output: %w", p.err)
		}
		if r.Truncated {
			break
		}
		if failed > 0 {
			exit = 1
			if r.OneProcess {
				break
			}
			p.line("--------------------------------------------------------------------------")
			p.line("Primary job  terminated normally, but 1 process returned")
			p.line("a non-zero exit code. Per user-direction, the job has been aborted.")
			p.line("--------------------------------------------------------------------------")
			break
		}
	}
	if err := bw.Flush(); err != nil {
		return 1, fmt.Errorf("write collective output: %w", err)
	}
	return exit, nil
}

// hcas returns the ports that NCCL selects on a node.
func (r Run) hcas(n Node) []HCA {
	if n.Socket {
		return nil
	}
	var out []HCA
	for _, h := range n.HCAs {
		if h.Gbps > 0 && selected(r.HCASelection, h.Name) {
			out = append(out, h)
		}
	}
	return out
}

// selected evaluates NCCL_IB_HCA: "=a,b" exactly these, "^a" all but, "a" a prefix.
func selected(selection, name string) bool {
	if selection == "" {
		return true
	}
	exclude := strings.HasPrefix(selection, "^")
	selection = strings.TrimPrefix(selection, "^")
	exact := strings.HasPrefix(selection, "=")
	selection = strings.TrimPrefix(selection, "=")
	hit := false
	for want := range strings.SplitSeq(selection, ",") {
		want, _, _ = strings.Cut(strings.TrimSpace(want), ":")
		if want == "" {
			continue
		}
		if want == name || !exact && strings.HasPrefix(name, want) {
			hit = true
		}
	}
	return hit != exclude
}

func (r Run) rand(rep, salt int) *rand.Rand {
	return rand.New(rand.NewPCG(r.Seed, uint64(rep)<<32|uint64(salt))) //nolint:gosec // noise of a model, no secret
}

type printer struct {
	w   *bufio.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err != nil {
		return
	}
	_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
}
