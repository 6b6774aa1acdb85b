package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/embedded"
)

func newLab(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "A whole GPU cluster on this machine: a real control plane over simulated hardware",
		Long: `The lab runs unmodified etcd, Kubernetes, kwok, Prometheus and Alertmanager as
local processes over simulated hardware. It binds loopback only, keeps its own
kubeconfig, and needs no Docker, no root and no GPU.`,
		Example: `  firstlight lab up
  export KUBECONFIG=$(firstlight lab kubeconfig --path)
  kubectl get nodes
  firstlight lab fault add gpu-off-bus gpu-03/gpu5
  firstlight accept
  firstlight lab down`,
	}
	cmd.AddCommand(newLabUp(s), newLabDown(s), newLabStatus(s), newLabKubeconfig(s), newLabSite(s), newLabLogs(s), newLabFault(s), newLabInstall(s), newLabPrograms(s), newLabSupervise(s))
	return cmd
}

func addLabName(cmd *cobra.Command) *string {
	return cmd.Flags().String("name", lab.DefaultName, "name of the lab; labs of different names run side by side")
}

func newLabUp(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a lab and leave it running; one that is up gains what --with names",
		Long: `Start a lab and leave it running. What --with names is built when it is first
asked for, which takes minutes: adapter (prometheus-adapter) serves metrics to
autoscalers, gateway is the Gateway API, karpenter makes nodes for pods that find no room (its KWOK provider,
with instance types that have GPUs), kai schedules pods by queues. A lab that is up
already gains them; autoscale and validate give a lab what they need.`,
		Example: `  firstlight lab up
  firstlight lab up --with karpenter,kai
  firstlight lab up --name big --nodes 64
  firstlight lab up --site prod.yaml     # nodes as a site file lists them`,
	}
	name := addLabName(cmd)
	spec := addSpecFlags(cmd)
	with := addWithFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := spec.spec(); err != nil {
			return usage("%w", err)
		}
		if err := component.CheckExtras(*with); err != nil {
			return usage("--with: %w", err)
		}
		ctx := cmd.Context()
		if h, err := lab.Attach(ctx, *name); err == nil {
			return gain(ctx, s, h, *with)
		}
		board := newBoard(s.Err)
		handle, _, err := lab.Spawn(ctx, lab.SpawnOptions{Name: *name, Args: append(spec.args(), withArgs(*with)...)})
		if err == nil {
			err = handle.WaitReady(ctx, labProgress(board))
		}
		board.Close()
		if err != nil {
			return infrastructure(errors.Join(err, downAfter(ctx, *name)))
		}
		fmt.Fprintf(s.Err, "lab %s is up\n  kubectl:  export KUBECONFIG=$(firstlight lab kubeconfig --path --name %s)\n  walk it:  firstlight accept --lab %s\n  end it:   firstlight lab down --name %s\n", *name, *name, *name, *name)
		return nil
	}
	return cmd
}

// gain gives a lab that is up what it lacks.
func gain(ctx context.Context, s Streams, h *lab.Handle, with []string) error {
	board := newBoard(s.Err)
	err := h.Ensure(ctx, with, labProgress(board))
	board.Close()
	if err != nil {
		return infrastructure(err)
	}
	also := ""
	if len(with) > 0 {
		also = ", and has " + strings.Join(with, ", ")
	}
	fmt.Fprintf(s.Err, "lab %s is up already%s\n", h.Name, also)
	return nil
}

// downAfter ends a lab that could not be started, also after an interrupt.
func downAfter(ctx context.Context, name string) error {
	err := lab.Down(context.WithoutCancel(ctx), name)
	if errors.Is(err, lab.ErrNotRunning) {
		return nil
	}
	return err //nolint:wrapcheck // says which lab itself
}

func newLabDown(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "down",
		Short: "End a lab: every process in reverse order, with a grace period",
	}
	name := addLabName(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		err := lab.Down(cmd.Context(), *name)
		if errors.Is(err, lab.ErrNotRunning) {
			fmt.Fprintf(s.Err, "lab %s is not up\n", *name)
			return nil
		}
		return infrastructure(err)
	}
	return cmd
}

func newLabStatus(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "status", Short: "How every component of a lab does; exits 3 when the lab is not ready"}
	name := addLabName(cmd)
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		h, err := lab.Attach(cmd.Context(), *name)
		if err != nil {
			return infrastructure(err)
		}
		st, err := h.Status(cmd.Context())
		if err != nil {
			return infrastructure(err)
		}
		err = out.write(s.Out, st, func(w io.Writer) error {
			fmt.Fprintf(w, "lab %s: %s%s\n", st.Info.Name, st.State, withWords(st.Info.With))
			tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
			fmt.Fprintln(tw, "COMPONENT\tSTATE\tPID\tRESTARTS\tADDRESS")
			for _, c := range st.Components {
				fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%s\n", c.Name, c.State, c.Identity.PID, c.Restarts, c.Address)
			}
			return tw.Flush()
		})
		if err == nil && st.State != lab.StateReady {
			return &exitError{code: ExitUnobserved}
		}
		return err
	}
	return cmd
}

// withWords tells what a lab has besides.
func withWords(with []string) string {
	if len(with) == 0 {
		return ""
	}
	return ", with " + strings.Join(with, ", ")
}

func newLabKubeconfig(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the lab's kubeconfig, or its path",
		Example: `  firstlight lab kubeconfig > lab.kubeconfig
  export KUBECONFIG=$(firstlight lab kubeconfig --path)`,
	}
	name := addLabName(cmd)
	path := cmd.Flags().Bool("path", false, "print the path of the file instead of its content")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return printLabFile(cmd.Context(), s.Out, *name, *path, func(st lab.Status) string { return st.Info.Kubeconfig })
	}
	return cmd
}

func newLabSite(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "site",
		Short:   "Print the site file that declares the lab, or its path",
		Example: `  firstlight accept --kubeconfig $(firstlight lab kubeconfig --path) --site $(firstlight lab site --path)`,
	}
	name := addLabName(cmd)
	path := cmd.Flags().Bool("path", false, "print the path of the file instead of its content")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return printLabFile(cmd.Context(), s.Out, *name, *path, func(st lab.Status) string {
			return filepath.Join(st.Info.Dir, embedded.SiteFile)
		})
	}
	return cmd
}

func printLabFile(ctx context.Context, out io.Writer, name string, pathOnly bool, file func(lab.Status) string) error {
	h, err := lab.Attach(ctx, name)
	if err != nil {
		return infrastructure(err)
	}
	st, err := h.Status(ctx)
	if err != nil {
		return infrastructure(err)
	}
	path := file(st)
	if pathOnly {
		_, err = fmt.Fprintln(out, path)
		return err //nolint:wrapcheck // our own stream
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return infrastructure(fmt.Errorf("read file of lab %s: %w", name, err))
	}
	_, err = out.Write(data)
	return err //nolint:wrapcheck // our own stream
}

func newLabLogs(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "logs COMPONENT",
		Short:   "Print a component's log (also after the lab has ended); supervisor is the lab's own",
		Example: "  firstlight lab logs kube-scheduler",
		Args:    cobra.ExactArgs(1),
	}
	name := addLabName(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := lab.DirOf(*name)
		if err != nil {
			return usage("%w", err)
		}
		path := lab.LogPathIn(dir, filepath.Base(args[0]))
		f, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			return usage("lab %s has no log of %q; there are: %s", *name, args[0], logNames(dir))
		}
		if err != nil {
			return infrastructure(fmt.Errorf("read log: %w", err))
		}
		defer f.Close()
		_, err = io.Copy(s.Out, f)
		return err //nolint:wrapcheck // our own stream
	}
	return cmd
}

func logNames(dir string) string {
	files, err := filepath.Glob(lab.LogPathIn(dir, "*"))
	if err != nil || len(files) == 0 {
		return "none (the lab was never started)"
	}
	names := make([]string, 0, len(files))
	for _, f := range files {
		base := filepath.Base(f)
		names = append(names, base[:len(base)-len(filepath.Ext(base))])
	}
	return strings.Join(names, " ")
}

// labProgress shows the lab's events on a board.
func labProgress(board *display.Board) func(lab.Event) {
	return func(e lab.Event) { showLabEvent(board, e) }
}
