package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/upstream"
)

// versionInfo is the -o json form of version.
type versionInfo struct {
	Version  string         `json:"version"`
	Go       string         `json:"go"`
	Upstream []upstream.Pin `json:"upstream"`
	// Modules are the dependencies that are linked into the binary.
	Modules []linkedModule `json:"modules"`
}

// linkedModule is a dependency, from the build information of the binary.
type linkedModule struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	// Sum is the digest in go.sum: h1: and base64. Empty for a replaced module.
	Sum string `json:"sum,omitempty"`
	// ReplacedBy is the directory of firstlight's repository that replaces the module.
	ReplacedBy string `json:"replacedBy,omitempty"`
}

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
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of firstlight and of the pinned upstream programs",
		Long: `Print the version of firstlight, the version of Go that compiled it, and the upstream programs
of the lab with their pinned versions. -o json also has the linked modules with their digests.`,
		Example: `  firstlight version
  firstlight version -o json`,
	}
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, _ []string) error {
		pins, err := upstream.Pins()
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		info, _ := debug.ReadBuildInfo() // nil in a binary that was built without modules
		v := versionInfo{Version: cmdutil.Version, Go: runtime.Version(), Upstream: pins, Modules: linkedModules(info)}
		return out.Write(s.Out, v, func(w io.Writer) {
			fmt.Fprintf(w, "firstlight %s (%s)\n\nupstream programs of the lab:\n", v.Version, v.Go)
			table := display.NewTable(w)
			for _, p := range v.Upstream {
				table.Row("  "+p.Program, p.Version, p.Module)
			}
			table.Flush()
		})
	}
	return cmd
}
