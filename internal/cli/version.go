package cli

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/upstream"
)

// version is set when the binary is linked.
var version = "devel"

// versionInfo is the -o json form of version.
type versionInfo struct {
	Version  string         `json:"version"`
	Go       string         `json:"go"`
	Upstream []upstream.Pin `json:"upstream"`
}

func newVersion(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Print the version, and every pinned upstream program with its version"}
	out := addOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, _ []string) error {
		pins, err := upstream.Pins()
		if err != nil {
			return infrastructure(err)
		}
		v := versionInfo{Version: version, Go: runtime.Version(), Upstream: pins}
		return out.write(s.Out, v, func(w io.Writer) error {
			fmt.Fprintf(w, "firstlight %s (%s)\n\nupstream programs of the lab:\n", v.Version, v.Go)
			tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
			for _, p := range v.Upstream {
				fmt.Fprintf(tw, "  %s\t%s\t%s\n", p.Program, p.Version, p.Module)
			}
			return tw.Flush()
		})
	}
	return cmd
}
