package lab

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/embedded"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
)

// specFlags describe the hardware of a lab.
type specFlags struct {
	nodes    int
	hardware string
	seed     uint64
	site     string
	spine    string
}

func addSpecFlags(cmd *cobra.Command) *specFlags {
	f := &specFlags{}
	cmd.Flags().IntVar(&f.nodes, "nodes", 4, "number of GPU nodes")
	cmd.Flags().StringVar(&f.hardware, "hardware", world.DefaultHardware, "hardware of the nodes: "+strings.Join(world.HardwareKinds(), ", "))
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the simulated hardware: the same seed gives the same cluster")
	cmd.Flags().StringVar(&f.site, "site", "", "site file with the node names and the fabric's topology")
	cmd.Flags().StringVar(&f.spine, "spine", site.SpineKubernetes, "distribution that the nodes show: "+strings.Join(spines(), ", "))
	cmdutil.CompleteFlag(cmd, "spine", spines())
	cmd.MarkFlagsMutuallyExclusive("spine", "site")
	cmd.MarkFlagsMutuallyExclusive("nodes", "site")
	cmd.MarkFlagsMutuallyExclusive("hardware", "site")
	cmdutil.CompleteFlag(cmd, "hardware", world.HardwareKinds())
	return f
}

func (f *specFlags) args() []string {
	args := []string{"--nodes=" + strconv.Itoa(f.nodes), "--hardware=" + f.hardware, "--seed=" + strconv.FormatUint(f.seed, 10), "--spine=" + cmp.Or(f.spine, site.SpineKubernetes)}
	if f.site != "" {
		args = []string{"--site=" + f.site, "--seed=" + strconv.FormatUint(f.seed, 10)}
	}
	return args
}

// spines are those that a lab can have without a site file.
func spines() []string { return []string{site.SpineKubernetes, site.SpineK3s} }

func (f *specFlags) spec() (world.Spec, error) {
	if f.site == "" {
		if f.nodes < 1 {
			return world.Spec{}, fmt.Errorf("invalid --nodes %d: must be at least 1", f.nodes)
		}
		spec, err := world.SpecOf(f.hardware, f.nodes)
		if err != nil {
			return world.Spec{}, fmt.Errorf("--hardware: %w", err)
		}
		spec.Seed = f.seed
		switch f.spine {
		case "", site.SpineKubernetes:
		case site.SpineK3s:
			spec.Distribution = world.K3s
		default:
			return world.Spec{}, fmt.Errorf("unknown --spine %q: want one of %s; --with ray adds a RayCluster", f.spine, strings.Join(spines(), ", "))
		}
		return spec, nil
	}
	s, err := site.Load(f.site)
	if err != nil {
		return world.Spec{}, err
	}
	spec := embedded.SpecOf(s)
	spec.Seed = f.seed
	return spec, nil
}

func addStackFlag(cmd *cobra.Command) *string {
	stack := cmd.Flags().String("stack", string(component.StackMinimal), "GPU stack: "+strings.Join(component.Stacks(), ", "))
	cmdutil.CompleteFlag(cmd, "stack", component.Stacks())
	return stack
}

func addWithFlag(cmd *cobra.Command) *[]string {
	with := cmd.Flags().StringSlice("with", nil, "additional components: "+strings.Join(component.Extras(), ", "))
	cmdutil.CompleteFlag(cmd, "with", component.Extras())
	return with
}

// newSupervise is the process that lab up starts.
func newSupervise(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "supervise", Hidden: true, Short: "Run a lab in this process"}
	name := addLabName(cmd)
	dir := cmd.Flags().String("dir", "", "directory of the lab")
	ownerFD := cmd.Flags().Int("owner-fd", 0, "file descriptor that reaches EOF when the lab's owner ends")
	flags := addSpecFlags(cmd)
	with, stack := addWithFlag(cmd), addStackFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		spec, err := flags.spec()
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		if err := component.CheckExtras(*with); err != nil {
			return cmdutil.UsageErrorf("--with: %w", err)
		}
		if err := component.CheckStack(component.Stack(*stack)); err != nil {
			return cmdutil.UsageErrorf("--stack: %w", err)
		}
		log := slog.New(slog.NewTextHandler(s.Err, nil))
		opts := embedded.Options{Name: *name, Dir: *dir, Spec: spec, Log: log, Stack: component.Stack(*stack), With: *with, Programs: cmdutil.BuildPrograms,
			Firstlight: func(context.Context) (string, error) { return os.Executable() }}
		if *ownerFD > 0 {
			opts.Owner = lab.OwnerPipe(*ownerFD)
		}
		return cmdutil.Unobserved(embedded.Supervise(cmd.Context(), opts))
	}
	return cmd
}
