package detect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
)

// ErrNoGPU is the error of a machine without a GPU that its driver shows.
var ErrNoGPU = errors.New("no GPU on this machine")

// exitNotFound is the exit code for a program that does not exist.
const exitNotFound = 127

// Machine is the shipped profile of a machine without a compute fabric, by the GPUs that nvidia-smi
// shows: no limit comes from the GPUs themselves. run runs a command on the machine.
func Machine(ctx context.Context, run func(ctx context.Context, argv ...string) (ssh.Output, error)) (*profile.Profile, error) {
	out, err := run(ctx, "nvidia-smi", "-q", "-x")
	switch {
	case err != nil:
		return nil, fmt.Errorf("list the GPUs of this machine: %w", err)
	case out.Exit == exitNotFound:
		return nil, fmt.Errorf("%w: nvidia-smi not found: install the NVIDIA driver", ErrNoGPU)
	}
	products, err := productsIn(out)
	if err != nil {
		return nil, err
	}
	if len(products) != 1 {
		return nil, fmt.Errorf("the GPUs of this machine are of %d products (%s): a profile has one", len(products), strings.Join(slices.Sorted(maps.Keys(products)), ", "))
	}
	for product, gpus := range products {
		return matching(product, gpus)
	}
	return nil, ErrNoGPU
}

// productsIn counts the GPUs of each product. A lost GPU has no product: it counts as one of those
// that answer, and the gates find it.
func productsIn(out ssh.Output) (map[string]int, error) {
	trouble, err := nvidia.ParseSMIErrors(out.Stdout, out.Stderr)
	if err != nil {
		return nil, fmt.Errorf("list the GPUs of this machine: %w", err)
	}
	if trouble.NVML != "" {
		return nil, fmt.Errorf("%w: %s", ErrNoGPU, trouble.NVML)
	}
	log, err := nvidia.ParseSMI(out.Stdout)
	switch {
	case err != nil && len(trouble.Lost) > 0:
		return nil, fmt.Errorf("%w that answers: %s", ErrNoGPU, trouble.Lost[0].Text)
	case err != nil:
		return nil, fmt.Errorf("list the GPUs of this machine: nvidia-smi exited %d: %w: %.200q", out.Exit, err, strings.TrimSpace(string(out.Stderr)))
	case len(log.GPUs) == 0:
		return nil, fmt.Errorf("%w: nvidia-smi lists none", ErrNoGPU)
	}
	products := map[string]int{}
	for _, g := range log.GPUs {
		products[g.Product]++
	}
	if len(products) == 1 {
		products[log.GPUs[0].Product] += len(trouble.Lost)
	}
	return products, nil
}

// matching is the only shipped profile of so many GPUs of a product without a compute fabric.
func matching(product string, gpus int) (*profile.Profile, error) {
	found, err := profile.Matching(product, gpus)
	if err != nil {
		return nil, fmt.Errorf("find the profile of this machine: %w", err)
	}
	var names []string
	var only *profile.Profile
	for _, p := range found {
		if !p.Rails() {
			only = p
			names = append(names, p.Name)
		}
	}
	const remedy = "write a site file with spine: single-node and the path of a profile of your own, and use it with --site"
	switch len(names) {
	case 0:
		return nil, fmt.Errorf("no profile ships for %d x %s: %s", gpus, product, remedy)
	case 1:
		return only, nil
	default:
		return nil, fmt.Errorf("profiles %s are all of %d x %s: write a site file with spine: single-node and one of them, and use it with --site", strings.Join(names, ", "), gpus, product)
	}
}
