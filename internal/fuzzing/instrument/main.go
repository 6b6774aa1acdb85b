// Command instrument is a -toolexec of go test -c -fuzz: it compiles packages that are not to
// guide the fuzzer without coverage counters (package fuzzing).
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// instrumented are the packages with counters, with those below them: the module's own, and the
// decoders that stand between an input and them.
var instrumented = []string{
	"github.com/firstlight/firstlight",
	"encoding/json", "encoding/xml", "encoding/csv",
	"go.yaml.in/yaml/v2", "go.yaml.in/yaml/v3", "sigs.k8s.io/yaml", "gopkg.in/ini.v1",
	"github.com/prometheus/common/expfmt",
}

// counters is the compiler's flag for coverage counters.
const counters = "-d=libfuzzer"

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "instrument: usage: go test -c -fuzz . -toolexec instrument PACKAGE")
		os.Exit(2)
	}
	tool, args := os.Args[1], os.Args[2:]
	if err := run(tool, args); err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) { // the tool has said why
			fmt.Fprintln(os.Stderr, "instrument:", err)
		}
		os.Exit(1)
	}
}

func run(tool string, args []string) error {
	if name := strings.TrimSuffix(filepath.Base(tool), ".exe"); name == "compile" {
		if slices.Equal(args, []string{"-V=full"}) {
			return version(tool)
		}
		args = flags(args)
	}
	cmd := exec.Command(tool, args...) //nolint:noctx // ends with its parent's process group
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

// version prints a version of the compiler that no other build has: Go caches packages by it.
func version(tool string) error {
	out, err := exec.Command(tool, "-V=full").Output() //nolint:noctx // as above
	if err != nil {
		return fmt.Errorf("version of the compiler: %w", err)
	}
	_, err = fmt.Fprintf(os.Stdout, "%s instrument %s\n", strings.TrimSpace(string(out)), strings.Join(instrumented, ","))
	return err
}

// flags removes the flag for counters from a compiler's arguments if its package has none.
func flags(args []string) []string {
	i := slices.Index(args, "-p")
	if i < 0 || i+1 == len(args) || hasCounters(args[i+1]) {
		return args
	}
	return slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == counters })
}

func hasCounters(pkg string) bool {
	return slices.ContainsFunc(instrumented, func(p string) bool {
		return pkg == p || strings.HasPrefix(pkg, p+"/") || pkg == p+"_test" || pkg == p+".test"
	})
}
