package lab

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/embedded"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/upstream"
	"github.com/firstlight/firstlight/internal/world"
)

// specFlags say what hardware a lab has.
type specFlags struct {
	nodes    int
	hardware string
	seed     uint64
	site     string
}

func addSpecFlags(cmd *cobra.Command) *specFlags {
	f := &specFlags{}
	cmd.Flags().IntVar(&f.nodes, "nodes", 4, "GPU nodes of the lab")
	cmd.Flags().StringVar(&f.hardware, "hardware", world.DefaultHardware, "what the nodes are: "+strings.Join(world.HardwareKinds(), ", "))
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the simulated hardware: the same seed gives the same cluster")
	cmd.Flags().StringVar(&f.site, "site", "", "take node names and the fabric's shape from this site file")
	cmd.MarkFlagsMutuallyExclusive("nodes", "site")
	cmd.MarkFlagsMutuallyExclusive("hardware", "site")
	if err := cmd.RegisterFlagCompletionFunc("hardware", cobra.FixedCompletions(world.HardwareKinds(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added above
	}
	return f
}

func (f *specFlags) args() []string {
	args := []string{"--nodes=" + strconv.Itoa(f.nodes), "--hardware=" + f.hardware, "--seed=" + strconv.FormatUint(f.seed, 10)}
	if f.site != "" {
		args = []string{"--site=" + f.site, "--seed=" + strconv.FormatUint(f.seed, 10)}
	}
	return args
}

func (f *specFlags) spec() (world.Spec, error) {
	if f.site == "" {
		if f.nodes < 1 {
			return world.Spec{}, fmt.Errorf("--nodes %d: a lab needs at least one GPU node", f.nodes)
		}
		spec, err := world.SpecOf(f.hardware, f.nodes)
		if err != nil {
			return world.Spec{}, fmt.Errorf("--hardware: %w", err)
		}
		spec.Seed = f.seed
		return spec, nil
	}
	s, err := site.Load(f.site)
	if err != nil {
		return world.Spec{}, err //nolint:wrapcheck // names the file itself
	}
	spec := embedded.SpecOf(s)
	spec.Seed = f.seed
	return spec, nil
}

// addWithFlag adds --with, the extras of a lab.
func addWithFlag(cmd *cobra.Command) *[]string {
	with := cmd.Flags().StringSlice("with", nil, "what the lab has besides: "+strings.Join(component.Extras(), ", "))
	if err := cmd.RegisterFlagCompletionFunc("with", cobra.FixedCompletions(component.Extras(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added above
	}
	return with
}

// withArgs hand the extras on to the lab's own process.
func withArgs(with []string) []string {
	if len(with) == 0 {
		return nil
	}
	return []string{"--with=" + strings.Join(with, ",")}
}

// newLabSupervise is the lab's own process; people use lab up.
func newLabSupervise(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "supervise", Hidden: true, Short: "Run a lab in this process"}
	name := addLabName(cmd)
	dir := cmd.Flags().String("dir", "", "directory of the lab")
	ownerFD := cmd.Flags().Int("owner-fd", 0, "file descriptor that reaches EOF when the lab's owner ends")
	flags := addSpecFlags(cmd)
	with := addWithFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		spec, err := flags.spec()
		if err != nil {
			return usage("%w", err)
		}
		if err := component.CheckExtras(*with); err != nil {
			return usage("--with: %w", err)
		}
		log := slog.New(slog.NewTextHandler(s.Err, nil))
		opts := embedded.Options{Name: *name, Dir: *dir, Spec: spec, Log: log, With: *with, Programs: buildPrograms}
		if *ownerFD > 0 {
			opts.Owner = ownerPipe(*ownerFD)
		}
		return infrastructure(embedded.Supervise(cmd.Context(), opts))
	}
	return cmd
}

func ownerPipe(fd int) io.Reader { return lab.OwnerPipe(fd) }

// buildPrograms begins to build those of these upstream programs that are missing,
// and reports progress: a lab starts each program as soon as it is built.
func buildPrograms(ctx context.Context, names []string, tell func(lab.Event)) (upstream.Programs, error) {
	return upstream.Builder{}.Begin(ctx, names, func(e upstream.Event) { //nolint:wrapcheck // says what it was doing
		tell(lab.Event{Kind: lab.KindBuild, Name: e.Program, Build: &e})
	})
}
