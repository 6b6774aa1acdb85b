package reservation

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/reservation/access"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

type accessFlags struct {
	store   *storeFlags
	token   *tokenFlag
	hooks   *string
	file    string
	write   string
	service string
}

func newAccess(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "access NAME",
		Short: "Print how to connect to the deployment that you hold",
		Args:  cobra.ExactArgs(1),
		Long: `Only the current holder of the reservation has access: a stale token is refused with the
name of the holder.

access finds the deployment of the lease through the cloud's hook, and writes a kubeconfig
that authenticates with your own identity at that cloud. The file has no credential:
kubectl runs the cloud's credential plugin. The output has the commands to use the
deployment: a TrainJob as large as the reservation, or a port forward to the
OpenAI-compatible endpoint.

Exit codes: 0 printed; 1 the lease is not yours, or it has no deployment; 3 the store or
the cloud is unavailable.`,
		Example: `  firstlight reservation checkout aws-h100-ct-1 --purpose "debugging NCCL"
  firstlight reservation access aws-h100-ct-1
  firstlight reservation access gcp-h100 --service inference/frontend:8000 -o json`,
	}
	f := &accessFlags{store: addStoreFlags(cmd), token: addTokenFlag(cmd), hooks: addHooksFlag(cmd)}
	cmd.Flags().StringVar(&f.file, "file", "reservations.yaml", "registry (-: standard input)")
	cmd.Flags().StringVar(&f.write, "write-kubeconfig", "", "file for the kubeconfig (default: in $FIRSTLIGHT_HOME/access)")
	cmd.Flags().StringVar(&f.service, "service", "", "OpenAI-compatible service to print the commands for, as NAMESPACE/NAME:PORT")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a, err := f.find(cmd, s, args[0])
		if err != nil {
			return err
		}
		return out.Write(s.Out, a, func(w io.Writer) { printAccess(w, a) })
	}
	return cmd
}

func (f *accessFlags) find(cmd *cobra.Command, s cmdutil.Streams, name string) (access.Access, error) {
	none := access.Access{}
	reg, err := cmdutil.ParseFile(s, f.file, config.ParseRegistry)
	if err != nil {
		return none, err
	}
	row, ok := reg.Find(name)
	if !ok {
		return none, cmdutil.UsageErrorf("reservation %s not found in %s: want one of %s", name, f.file, strings.Join(reg.Names(), ", "))
	}
	var service access.Service
	if f.service != "" {
		if service, err = access.ParseService(f.service); err != nil {
			return none, cmdutil.UsageErrorf("--%w", err)
		}
	}
	home, err := lab.Home()
	if err != nil {
		return none, cmdutil.Unobserved(err)
	}
	r, err := f.store.open(cmd.Context(), s)
	if err != nil {
		return none, err
	}
	token, err := f.token.of(r, name)
	if err != nil {
		return none, err
	}
	hooks, err := f.store.hooks(s, r, *f.hooks)
	if err != nil {
		return none, err
	}
	a, err := access.Find(cmd.Context(), r.store, hooks, row, token)
	if errors.Is(err, access.ErrNotHeld) || errors.Is(err, access.ErrNoDeployment) {
		return none, &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: fmt.Errorf("%w\nsee firstlight reservation describe %s", err, name)}
	}
	if err != nil {
		return none, leaseError(err)
	}
	if a, err = a.Write(cmp.Or(f.write, filepath.Join(home, "access", name+".kubeconfig"))); errors.Is(err, access.ErrForeignFile) {
		return none, cmdutil.UsageErrorf("%w", err)
	}
	if err != nil {
		return none, cmdutil.Unobserved(err)
	}
	a, err = a.WithSteps(row, service)
	return a, cmdutil.Unobserved(err)
}

func printAccess(w io.Writer, a access.Access) {
	until := "it is released"
	if !a.Until.IsZero() {
		until = a.Until.Format(time.RFC3339)
	}
	intent := ""
	if a.Intent != "" {
		intent = " (" + string(a.Intent) + ")"
	}
	fmt.Fprintf(w, "%s is yours until %s: deployment %s%s at %s\n", a.Reservation, until, a.Deployment, intent, a.Server)
	for _, step := range a.Steps {
		fmt.Fprintf(w, "\n# %s\n%s\n", step.Title, step.Commands)
	}
}
