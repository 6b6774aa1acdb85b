package site

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/detect"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

func newDetect(s cmdutil.Streams) *cobra.Command {
	var kubeconfig, kubeContext string
	cmd := &cobra.Command{
		Use:   "detect [FILE]",
		Short: "Write a site file with the values of a cluster, to FILE or standard output",
		Long: `Write a site file with the values of a cluster, to FILE or standard output.

It reads nodes, ResourceSlices, the GPU Operator's objects, DaemonSets, Services and the served APIs, and asks Prometheus
and Alertmanager through the API server. It changes nothing.
Each value has a comment: its source, or "default". For a value that cannot be read from the cluster, the comment begins
with TODO: firstlight site check refuses the file, and prints the line of each TODO, until you have entered or confirmed
the value and deleted the comment.`,
		Example: `  firstlight site detect prod.yaml --kubeconfig ~/.kube/prod
  firstlight site detect --context prod > prod.yaml
  firstlight site check prod.yaml`,
		Args: cobra.MaximumNArgs(1),
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of the cluster (default: $KUBECONFIG or ~/.kube/config)")
	cmd.Flags().StringVar(&kubeContext, "context", "", "context of the kubeconfig")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path := ""
		if len(args) > 0 && args[0] != "-" {
			path = args[0]
			// a cluster is not read for a file that cannot be written
			if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
				return cmdutil.UsageErrorf("%s already exists: remove it first, or name another file", path)
			}
		}
		result, err := detectSite(cmd.Context(), s, kubeconfig, kubeContext)
		if err != nil {
			return err
		}
		next := "save it, then run firstlight site check FILE"
		if path == "" {
			if _, err := s.Out.Write(result.File); err != nil {
				return fmt.Errorf("write site: %w", err)
			}
		} else {
			if err := create(path, result.File); err != nil {
				return err
			}
			next = "edit it, then run firstlight site check " + path
		}
		fmt.Fprintf(s.Err, "%s, %s to resolve: %s\n", cmdutil.Count(result.GPUNodes, "GPU node"), cmdutil.Count(result.TODOs, "TODO"), next)
		return nil
	}
	return cmd
}

// detectSite reads a cluster and writes its file, with progress on standard error.
func detectSite(ctx context.Context, s cmdutil.Streams, kubeconfig, kubeContext string) (detect.Result, error) {
	cluster, err := kube.Open(kubeconfig, kubeContext)
	if err != nil {
		return detect.Result{}, cmdutil.UsageErrorf("%w", err)
	}
	name, clusterName, err := kube.Names(kubeconfig, kubeContext)
	if err != nil {
		return detect.Result{}, cmdutil.UsageErrorf("%w", err)
	}
	snapshot, err := detect.Read(ctx, cluster, func(what string) { fmt.Fprintf(s.Err, "reading %s\n", what) })
	if err != nil {
		return detect.Result{}, cmdutil.Unobserved(err)
	}
	snapshot.Kubeconfig, snapshot.Context, snapshot.ClusterName = kubeconfig, name, clusterName
	for what, why := range snapshot.Unread {
		fmt.Fprintf(s.Err, "cannot read %s: %s\n", what, why)
	}
	return detect.File(snapshot)
}
