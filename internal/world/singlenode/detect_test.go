package singlenode

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/detect"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/host"
)

// The profile of a machine is that of the GPUs that nvidia-smi shows, if exactly one ships.
func TestDetect(t *testing.T) {
	t.Parallel()
	const h100 = "NVIDIA H100 80GB HBM3"
	for name, tt := range map[string]struct {
		hardware string
		fault    world.Fault
		change   func(*ssh.Output)
		want     string // profile, or text of the error
		noGPU    bool
	}{
		"eight GPUs":    {hardware: "h100-sxm", want: "h100-sxm"},
		"one GPU":       {hardware: "a3-highgpu-1g", want: "a3-highgpu-1g"},
		"a lost GPU":    {hardware: "h100-sxm", fault: world.Fault{Kind: "gpu-off-bus", Target: "gpu-01/gpu5"}, want: "h100-sxm"},
		"a missing GPU": {hardware: "h100-sxm", fault: world.Fault{Kind: "gpu-count-short", Target: "gpu-01"}, want: "no profile ships for 7 x " + h100},
		"no program":    {hardware: "h100-sxm", change: func(o *ssh.Output) { *o = ssh.Output{Exit: host.NotFound} }, want: "nvidia-smi not found", noGPU: true},
		"no driver": {hardware: "h100-sxm", change: func(o *ssh.Output) {
			*o = ssh.Output{Stdout: []byte("Failed to initialize NVML: Driver/library version mismatch\n"), Exit: 18}
		}, want: "version mismatch", noGPU: true},
		"no devices":     {hardware: "h100-sxm", change: func(o *ssh.Output) { *o = ssh.Output{Stdout: []byte("No devices were found\n"), Exit: 6} }, want: "No devices were found", noGPU: true},
		"an empty list":  {hardware: "h100-sxm", change: func(o *ssh.Output) { cut(o, "<gpu id", "</nvidia_smi_log>") }, want: "no GPU on this machine", noGPU: true},
		"not a document": {hardware: "h100-sxm", change: func(o *ssh.Output) { o.Stdout = []byte("hello\n") }, want: "nvidia-smi exited 0"},
		"another product": {hardware: "h100-sxm", change: func(o *ssh.Output) {
			o.Stdout = bytes.ReplaceAll(o.Stdout, []byte(h100), []byte("NVIDIA GeForce RTX 4090"))
		}, want: "no profile ships for 8 x NVIDIA GeForce RTX 4090: write a site file"},
		"several products": {hardware: "h100-sxm", change: func(o *ssh.Output) { o.Stdout = bytes.Replace(o.Stdout, []byte(h100), []byte("NVIDIA L40S"), 1) }, want: "are of 2 products (NVIDIA H100 80GB HBM3, NVIDIA L40S)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, tt.hardware)
			if tt.fault.Kind != "" {
				if _, err := m.world.AddFault(tt.fault); err != nil {
					t.Fatal(err)
				}
			}
			p, err := detect.Machine(t.Context(), func(ctx context.Context, argv ...string) (ssh.Output, error) {
				out, err := m.Run(ctx, m.name, argv...)
				if tt.change != nil {
					tt.change(&out)
				}
				return out, err
			})
			switch {
			case err == nil && p.Name != tt.want:
				t.Errorf("profile %s, want %s", p.Name, tt.want)
			case err != nil && (!strings.Contains(err.Error(), tt.want) || errors.Is(err, detect.ErrNoGPU) != tt.noGPU):
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// cut removes the text between two marks.
func cut(o *ssh.Output, from, to string) {
	i, j := bytes.Index(o.Stdout, []byte(from)), bytes.Index(o.Stdout, []byte(to))
	if i >= 0 && j > i {
		o.Stdout = append(bytes.Clone(o.Stdout[:i]), o.Stdout[j:]...)
	}
}
