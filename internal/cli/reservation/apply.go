package reservation

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

func newReservationApply(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Keep the reservations of a registry; what is no longer in it goes when it is free",
		Long: `Reservations of the registry are created or brought up to date. One that the registry
no longer has is deleted when nobody holds it, waits for it or has left it dirty; until
then it stays, and the answer says why.`,
		Example: "  firstlight reservation apply --file reservations.yaml",
		Args:    cobra.NoArgs,
	}
	f, out := addStoreFlags(cmd), addOutputFlag(cmd)
	file := cmd.Flags().String("file", "reservations.yaml", "the registry")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		reg, err := config.LoadRegistry(*file)
		if err != nil {
			return usage("%w", err)
		}
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		done, err := r.store.Apply(cmd.Context(), specs(reg))
		if err != nil {
			return explainStore(err)
		}
		return out.write(s.Out, done, func(w io.Writer) error {
			for _, d := range done {
				why := ""
				if d.Reason != "" {
					why = ": " + d.Reason
				}
				if _, err := fmt.Fprintf(w, "%s  %s%s\n", d.Name, d.Result, why); err != nil {
					return err //nolint:wrapcheck // the caller says what it was doing
				}
			}
			return nil
		})
	}
	return cmd
}

// specs are the rows of a registry as the store keeps them.
func specs(reg *config.Registry) map[string]store.Spec {
	out := map[string]store.Spec{}
	for _, row := range reg.Reservations {
		out[row.Name] = store.Spec{
			Slug: row.Slug, Cloud: string(row.Cloud), ReservationID: row.ReservationID,
			Accelerator: row.Accelerator, GPUCount: row.GPUCount, NodeCount: row.NodeCount,
		}
	}
	return out
}
