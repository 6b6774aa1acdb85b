package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
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
	// Modules are those that the binary is linked of, besides its own.
	Modules []linkedModule `json:"modules"`
}

// linkedModule is a module in the binary, as go build wrote it there.
type linkedModule struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	// Sum is the digest of its files as go.sum and the Go checksum database have it: h1: and
	// base64. Empty: ReplacedBy is in its place.
	Sum string `json:"sum,omitempty"`
	// ReplacedBy is the directory of firstlight's repository that is in its place.
	ReplacedBy string `json:"replacedBy,omitempty"`
}

// linkedModules are those of a binary's build information; nil: it has none.
func linkedModules(info *debug.BuildInfo) []linkedModule {
	modules := []linkedModule{}
	if info == nil {
		return modules
	}
	for _, d := range info.Deps {
		m := linkedModule{Path: d.Path, Version: d.Version, Sum: d.Sum}
		if d.Replace != nil {
			m.Sum, m.ReplacedBy = d.Replace.Sum, d.Replace.Path
		}
		modules = append(modules, m)
	}
	return modules
}

func newVersion(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Print the version, and every pinned upstream program with its version"}
	out := addOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, _ []string) error {
		pins, err := upstream.Pins()
		if err != nil {
			return infrastructure(err)
		}
		info, _ := debug.ReadBuildInfo() // nil where the binary was not built from modules
		v := versionInfo{Version: version, Go: runtime.Version(), Upstream: pins, Modules: linkedModules(info)}
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
