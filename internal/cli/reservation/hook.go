package reservation

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/hookprovider"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

func addHooksFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("hooks", "hooks.yaml", "file with the hook of each cloud (docs/hooks.md)")
}

// hooks is a client for the hooks of a file, fenced by the store. Hooks that are Jobs run in
// the cluster of --kubeconfig.
func (f *storeFlags) hooks(s cmdutil.Streams, r *reservations, path string) (*hook.Client, error) {
	config, err := hook.Load(path)
	if err != nil {
		return nil, cmdutil.UsageErrorf("%w", err)
	}
	var client kubernetes.Interface
	if f.kubeconfig != "" {
		cluster, err := kube.Open(f.kubeconfig, f.context)
		if err != nil {
			return nil, cmdutil.UsageErrorf("%w", err)
		}
		client = cluster.Client
	}
	log := slog.New(slog.NewTextHandler(s.Err, nil))
	return hook.New(hook.Options{Config: config, Fence: r, Runner: hook.Runners(client, log), Log: log}), nil
}

// newHook has the hooks that firstlight implements.
func newHook(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:    "hook",
		Hidden: true,
		Short:  "Run a hook that firstlight implements",
		Long: `A hook provisions the deployments of a reservation in a cloud: docs/hooks.md is its contract.
The hook lab uses this machine as the cloud: each deployment is a lab.`,
		Example: `  # hooks.yaml
  apiVersion: hooks.firstlight.dev/v1
  owner: team-a
  hooks:
    - cloud: aws
      command: [firstlight, reservation, hook, lab]`,
	}
	cmd.AddCommand(newHookLab(s), newHookCredential(s))
	return cmd
}

func newHookLab(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "lab",
		Short: "Handle one hook request, with labs as deployments",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			board := cmdutil.NewBoard(s.Err)
			defer board.Close()
			p, err := labHook(cmdutil.LabProgress(board))
			if err != nil {
				return cmdutil.Unobserved(err)
			}
			status, err := hook.Serve(cmd.Context(), s.In, s.Out, p)
			if status == hook.ExitDone {
				return nil
			}
			return &cmdutil.ExitError{Code: status, Err: err}
		},
	}
}

// newHookCredential is the kubectl credential plugin of a lab deployment.
func newHookCredential(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "credential NAME",
		Short: "Print the ExecCredential of a lab deployment",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := labHook(nil)
			if err != nil {
				return cmdutil.Unobserved(err)
			}
			raw, err := p.Credential(cmd.Context(), args[0])
			if err != nil {
				return cmdutil.Unobserved(err)
			}
			_, err = s.Out.Write(raw)
			return cmdutil.Unobserved(err)
		},
	}
}

func labHook(events func(lab.Event)) (*hookprovider.Provider, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	credential := []string{self, "reservation", "hook", "credential"}
	if os.Getenv("FIRSTLIGHT_HOME") != "" { // the kubeconfig may be used in another environment
		home, err := lab.Home()
		if err != nil {
			return nil, err
		}
		credential = append([]string{"env", "FIRSTLIGHT_HOME=" + home}, credential...)
	}
	return hookprovider.New(hookprovider.Options{Credential: credential, Events: events})
}
