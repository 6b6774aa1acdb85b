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

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/reservation/access"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

// accessFlags say of what, and where to.
type accessFlags struct {
	store   *storeFlags
	token   *tokenFlag
	hooks   *string
	file    string
	write   string
	service string
}

func newReservationAccess(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "access NAME", Short: "What the holder of a reservation types to use what stands there", Args: cobra.ExactArgs(1),
		Long: `Only for whoever holds the reservation now: a token that is stale is refused, and it
says who has it.

access looks for the deployment of the lease by the cloud's hook, and writes a kubeconfig
that reaches it by your own identity at that cloud. No credential is in the file, printed,
or passes through firstlight: kubectl runs the cloud's credential plugin. Then it prints
what to type, by what stands there: a TrainJob as large as the reservation, or a port
forwarded to the OpenAI-compatible endpoint.

Exit codes: 0 here it is, 1 the lease is not yours or nothing stands under it, 3 the store
or the cloud could not be asked.`,
		Example: `  firstlight reservation take aws-h100-ct-1 --purpose "debugging NCCL"
  firstlight reservation access aws-h100-ct-1
  firstlight reservation access gcp-h100 --service inference/frontend:8000 -o json`,
	}
	f := &accessFlags{store: addStoreFlags(cmd), token: addTokenFlag(cmd), hooks: addHooksFlag(cmd)}
	cmd.Flags().StringVar(&f.file, "file", "reservations.yaml", "the registry; - is standard input")
	cmd.Flags().StringVar(&f.write, "write-kubeconfig", "", "write the kubeconfig here (without: below $FIRSTLIGHT_HOME/access)")
	cmd.Flags().StringVar(&f.service, "service", "", "NAMESPACE/NAME:PORT of the service that answers like OpenAI's, for what is printed")
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a, err := f.find(cmd, s, args[0])
		if err != nil {
			return err
		}
		return out.write(s.Out, a, func(w io.Writer) error { return printAccess(w, a) })
	}
	return cmd
}

func (f *accessFlags) find(cmd *cobra.Command, s Streams, name string) (access.Access, error) {
	none := access.Access{}
	reg, err := reservationFile(s, f.file, config.ParseRegistry)
	if err != nil {
		return none, err
	}
	row, ok := reg.Find(name)
	if !ok {
		return none, usage("%s is not in %s; it has %s", name, f.file, strings.Join(reg.Names(), ", "))
	}
	var service access.Service
	if f.service != "" {
		if service, err = access.ParseService(f.service); err != nil {
			return none, usage("--%w", err)
		}
	}
	home, err := lab.Home()
	if err != nil {
		return none, infrastructure(err)
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
		return none, &exitError{code: ExitFailed, err: fmt.Errorf("%w\nsee what there is: firstlight reservation who %s", err, name)}
	}
	if err != nil {
		return none, refused(err)
	}
	if a, err = a.Write(cmp.Or(f.write, filepath.Join(home, "access", name+".kubeconfig"))); errors.Is(err, access.ErrForeignFile) {
		return none, usage("%w", err)
	}
	if err != nil {
		return none, infrastructure(err)
	}
	a, err = a.WithSteps(row, service)
	return a, infrastructure(err)
}

func printAccess(w io.Writer, a access.Access) error {
	until := "it is released"
	if !a.Until.IsZero() {
		until = a.Until.Format(time.RFC3339)
	}
	what := ""
	if a.Intent != "" {
		what = " (" + string(a.Intent) + ")"
	}
	_, err := fmt.Fprintf(w, "%s is yours until %s: deployment %s%s at %s\n", a.Reservation, until, a.Deployment, what, a.Server)
	for _, step := range a.Steps {
		if err == nil {
			_, err = fmt.Fprintf(w, "\n# %s\n%s\n", step.Title, step.Commands)
		}
	}
	return err //nolint:wrapcheck // the caller says what it was doing
}
