// Package extism replaces the runner of WebAssembly plugins that Helm's library imports. It
// refuses every plugin.
package extism

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero"
)

// ErrNoWASM is the error of each plugin.
var ErrNoWASM = errors.New("this program is built without a WebAssembly runtime: Helm plugins of the kind extism/v1 are not supported")

// HostFunction is a function of the host that a plugin could call.
type HostFunction struct{}

// LogLevel is the severity of a plugin's log line.
type LogLevel int

// String names the level.
func (LogLevel) String() string { return "none" }

// Wasm is a module of a plugin; WasmFile is one in a file.
type Wasm interface{ wasm() }

// WasmFile is a module in a file.
type WasmFile struct{ Path, Hash, Name string }

func (WasmFile) wasm() {}

// ManifestMemory bounds a plugin's memory.
type ManifestMemory struct {
	MaxPages             uint32
	MaxHttpResponseBytes int64 //nolint:revive // the name that Helm uses
	MaxVarBytes          int64
}

// Manifest says what a plugin is.
type Manifest struct {
	Wasm         []Wasm
	Memory       *ManifestMemory
	Config       map[string]string
	AllowedHosts []string
	AllowedPaths map[string]string
	Timeout      uint64
}

// PluginConfig says how a plugin is run.
type PluginConfig struct {
	ModuleConfig              wazero.ModuleConfig
	RuntimeConfig             wazero.RuntimeConfig
	EnableWasi                bool
	EnableHttpResponseHeaders bool //nolint:revive // the name that Helm uses
}

// Plugin is never made.
type Plugin struct{}

// NewPlugin refuses.
func NewPlugin(context.Context, Manifest, PluginConfig, []HostFunction) (*Plugin, error) {
	return nil, ErrNoWASM
}

// SetLogger does nothing.
func (*Plugin) SetLogger(func(LogLevel, string)) {}

// Call refuses.
func (*Plugin) Call(string, []byte) (uint32, []byte, error) { return 0, nil, ErrNoWASM }
