package reservation

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/hookprovider"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// addHooksFlag adds --hooks, the file that says how the clouds' part is done.
func addHooksFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("hooks", "hooks.yaml", "how the clouds' part is done: one hook a cloud (docs/hooks.md)")
}

// hooks calls the hooks of a file, fenced by the store. Hooks that are Jobs run in the cluster
// that the store's flags name.
func (f *storeFlags) hooks(s Streams, r *reservations, path string) (*hook.Client, error) {
	config, err := hook.Load(path)
	if err != nil {
		return nil, usage("%w", err)
	}
	var client kubernetes.Interface
	if f.kubeconfig != "" {
		cluster, err := kube.Open(f.kubeconfig, f.context)
		if err != nil {
			return nil, usage("%w", err)
		}
		client = cluster.Client
	}
	log := slog.New(slog.NewTextHandler(s.Err, nil))
	return hook.New(hook.Options{Config: config, Fence: r, Runner: hook.Runners(client, log), Log: log}), nil
}

// newReservationHook are the hooks that firstlight itself is.
func newReservationHook(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:    "hook",
		Hidden: true,
		Short:  "Hooks that firstlight itself is",
		Long: `A hook does a cloud's part of a reservation: docs/hooks.md is its contract. The one that
firstlight itself is takes this machine for a cloud: each deployment is a lab of its own.`,
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

func newHookLab(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "lab",
		Short: "Answer one request of the contract, of which the deployments are labs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			board := newBoard(s.Err)
			defer board.Close()
			p, err := labHook(labProgress(board))
			if err != nil {
				return infrastructure(err)
			}
			status, err := hook.Serve(cmd.Context(), s.In, s.Out, p)
			if status == hook.ExitDone {
				return nil
			}
			return &exitError{code: status, err: err}
		},
	}
}

// newHookCredential is the exec plugin by which such a deployment is reached.
func newHookCredential(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "credential NAME",
		Short: "Print the ExecCredential of a deployment that is a lab",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := labHook(nil)
			if err != nil {
				return infrastructure(err)
			}
			raw, err := p.Credential(cmd.Context(), args[0])
			if err != nil {
				return infrastructure(err)
			}
			_, err = s.Out.Write(raw)
			return infrastructure(err)
		},
	}
}

func labHook(events func(lab.Event)) (*hookprovider.Provider, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	credential := []string{self, "reservation", "hook", "credential"}
	if os.Getenv("FIRSTLIGHT_HOME") != "" { // whoever uses the kubeconfig may have another
		home, err := lab.Home()
		if err != nil {
			return nil, err //nolint:wrapcheck // says what to set
		}
		credential = append([]string{"env", "FIRSTLIGHT_HOME=" + home}, credential...)
	}
	return hookprovider.New(hookprovider.Options{Credential: credential, Events: events}) //nolint:wrapcheck // says what it was doing
}
