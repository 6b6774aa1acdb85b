// Package lab has the command lab.
package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/embedded"
)

// New is the command lab.
func New(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Run a GPU cluster on this machine: a real control plane over simulated hardware",
		Long: `A lab runs unmodified etcd, Kubernetes, kwok, Prometheus and Alertmanager as
local processes over simulated hardware. It binds loopback only, keeps its own
kubeconfig, and needs no Docker, no root and no GPU.`,
		Example: `  firstlight lab up
  export KUBECONFIG=$(firstlight lab kubeconfig --path)
  kubectl get nodes
  firstlight lab fault add gpu-off-bus gpu-03/gpu5
  firstlight accept
  firstlight lab down`,
	}
	cmd.AddCommand(newUp(s), newDown(s), newStatus(s), newKubeconfig(s), newSite(s), newLogs(s), newFault(s), newInstall(s), newPrograms(s), newSupervise(s))
	return cmd
}

func addLabName(cmd *cobra.Command) *string {
	return cmd.Flags().String("name", lab.DefaultName, "name of the lab")
}

func newUp(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a lab, or add components to a running one",
		Long: `Start a lab and leave it running. --with adds components; a running lab gains them
without a restart. Their programs are built on first use, which takes minutes:

  adapter    prometheus-adapter, which serves metrics to autoscalers
  gateway    the Gateway API
  karpenter  nodes for pending pods, by its KWOK provider with GPU instance types
  kai        the KAI scheduler, with queues
  volcano    the Volcano scheduler with its controllers, and a queue
  kueue      Kueue, with a queue for the GPUs of the default lab
  trainer    Kubeflow Trainer with JobSet
  mpi        the MPI Operator; one lab of a machine can have it
  ray        KubeRay, with a RayCluster that has all GPUs of the lab

The commands autoscale and validate add what they need by themselves.

--stack selects what manages the GPUs:

  minimal  an imitation of NVIDIA's GPU Operator, in a second
  real     NVIDIA's GPU Operator with its Helm chart, and Node Feature Discovery, unmodified;
           only what happens below the kubelet is simulated. Their first build takes minutes
  none     nothing: the programs of real run while the pods of an installed chart do`,
		Example: `  firstlight lab up

  # With Karpenter and KAI
  firstlight lab up --with karpenter,kai

  # With nodes of k3s
  firstlight lab up --name k3s --spine k3s

  # With NVIDIA's own GPU Operator
  firstlight lab up --stack real

  # A second lab with 64 nodes
  firstlight lab up --name big --nodes 64

  # With the nodes of a site file
  firstlight lab up --site prod.yaml`,
	}
	name := addLabName(cmd)
	spec := addSpecFlags(cmd)
	with, stack := addWithFlag(cmd), addStackFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := component.CheckStack(component.Stack(*stack)); err != nil {
			return cmdutil.UsageErrorf("--stack: %w", err)
		}
		if _, err := spec.spec(); err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		if err := component.CheckExtras(*with); err != nil {
			return cmdutil.UsageErrorf("--with: %w", err)
		}
		ctx := cmd.Context()
		running, err := lab.Attach(ctx, *name)
		switch {
		case err == nil:
			if cmd.Flags().Changed("stack") {
				if err := cmdutil.RequireStack(ctx, running, *stack); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("spine") {
				if err := cmdutil.RequireSpine(running, spec.spine); err != nil {
					return err
				}
			}
			return addExtras(ctx, s, running, *with)
		case errors.Is(err, lab.ErrDied):
			fmt.Fprintf(s.Err, diedText, *name)
		case !errors.Is(err, lab.ErrNotRunning):
			return cmdutil.Unobserved(err)
		}
		board := cmdutil.NewBoard(s.Err)
		handle, _, err := lab.Spawn(ctx, lab.SpawnOptions{Name: *name, Args: slices.Concat(spec.args(), cmdutil.StackArgs(*stack), cmdutil.WithArgs(*with))})
		if err == nil {
			if err = handle.WaitReady(ctx, cmdutil.LabProgress(board)); err != nil {
				err = errors.Join(err, handle.Down(context.WithoutCancel(ctx)))
			}
		}
		board.Close()
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		fmt.Fprintf(s.Err, readyText, *name)
		return nil
	}
	return cmd
}

func addExtras(ctx context.Context, s cmdutil.Streams, h *lab.Handle, with []string) error {
	board := cmdutil.NewBoard(s.Err)
	err := h.Ensure(ctx, with, cmdutil.LabProgress(board))
	board.Close()
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	fmt.Fprintf(s.Err, "lab %s is already running%s\n", h.Name, withText(with))
	return nil
}

const readyText = `lab %[1]s is running
  kubectl:  export KUBECONFIG=$(firstlight lab kubeconfig --path --name %[1]s)
  accept:   firstlight accept --lab %[1]s
  stop:     firstlight lab down --name %[1]s
`

const diedText = "lab %s: its supervisor died: stopping its processes and deleting its files\n"

func newDown(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop a lab and delete its state",
		Long: `Stop all processes of a lab, the last started first, and delete the state of its cluster:
objects, metrics, faults. The cached programs and the evidence of runs are kept. A lab that
is not running is not an error.`,
		Example: `  firstlight lab down
  firstlight lab down --name big`,
	}
	name := addLabName(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		died, err := lab.Died(*name)
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		if died {
			fmt.Fprintf(s.Err, diedText, *name)
		}
		err = lab.Down(cmd.Context(), *name)
		if errors.Is(err, lab.ErrNotRunning) {
			fmt.Fprintf(s.Err, "lab %s is not running\n", *name)
			return nil
		}
		return cmdutil.Unobserved(err)
	}
	return cmd
}

func newStatus(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Print the state of a lab's components; exit 3 unless the lab is ready",
		Example: `  firstlight lab status
  firstlight lab status -o json`,
	}
	name := addLabName(cmd)
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		h, err := lab.Attach(cmd.Context(), *name)
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		st, err := h.Status(cmd.Context())
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		err = out.Write(s.Out, st, func(w io.Writer) {
			fmt.Fprintf(w, "lab %s: %s, GPU stack %s%s\n", st.Info.Name, st.State, st.Info.Stack, withText(st.Info.With))
			table := display.NewTable(w, "COMPONENT", "STATE", "PID", "RESTARTS", "ADDRESS")
			for _, c := range st.Components {
				table.Row(c.Name, c.State, c.Identity.PID, c.Restarts, c.Address)
			}
			table.Flush()
		})
		if err == nil && st.State != lab.StateReady {
			return &cmdutil.ExitError{Code: cmdutil.ExitUnobserved}
		}
		return err
	}
	return cmd
}

func withText(with []string) string {
	if len(with) == 0 {
		return ""
	}
	return ", with " + strings.Join(with, ", ")
}

func newKubeconfig(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the kubeconfig of a lab, or its path",
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

func newSite(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "site",
		Short:   "Print the site file of a lab, or its path",
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
		return cmdutil.Unobserved(err)
	}
	st, err := h.Status(ctx)
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	path := file(st)
	if pathOnly {
		_, err = fmt.Fprintln(out, path)
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return cmdutil.Unobserved(fmt.Errorf("cannot read file of lab %s: %w", name, err))
	}
	_, err = out.Write(data)
	return err
}

func newLogs(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "logs COMPONENT",
		Short:   "Print the log of a component, also after the lab has stopped; supervisor is the lab's own log",
		Example: "  firstlight lab logs kube-scheduler",
		Args:    cobra.ExactArgs(1),
	}
	name := addLabName(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := lab.DirOf(*name)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		path := lab.LogPathIn(dir, filepath.Base(args[0]))
		f, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			return cmdutil.UsageErrorf("log of %q not found in lab %s: want one of %s", args[0], *name, logNames(dir))
		}
		if err != nil {
			return cmdutil.Unobserved(fmt.Errorf("cannot read log: %w", err))
		}
		defer f.Close()
		_, err = io.Copy(s.Out, f)
		return err
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
