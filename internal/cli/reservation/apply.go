package reservation

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

func newApply(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Create, update and delete the reservations of a registry",
		Long: `Create or update the reservations of the registry. A reservation that the registry no
longer has is deleted once it is free, clean and its queue is empty; until then the output
has the reason.`,
		Example: "  firstlight reservation apply --file reservations.yaml",
		Args:    cobra.NoArgs,
	}
	f, out := addStoreFlags(cmd), cmdutil.AddOutputFlag(cmd)
	file := cmd.Flags().String("file", "reservations.yaml", "registry")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		reg, err := config.LoadRegistry(*file)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		changes, err := r.store.Apply(cmd.Context(), specs(reg))
		if err != nil {
			return storeError(err)
		}
		return out.Write(s.Out, changes, func(w io.Writer) {
			for _, c := range changes {
				reason := ""
				if c.Reason != "" {
					reason = ": " + c.Reason
				}
				fmt.Fprintf(w, "%s  %s%s\n", c.Name, c.Result, reason)
			}
		})
	}
	return cmd
}

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
