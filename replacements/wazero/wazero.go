// Package wazero replaces the WebAssembly runtime that Helm's library imports for
// its plugins. Its configurations are accepted and ignored: no module can be run.
package wazero

import "io"

// CompilationCache keeps nothing.
type CompilationCache interface{ cache() }

type noCache struct{}

func (noCache) cache() {}

// NewCompilationCacheWithDir returns a cache that keeps nothing, and creates no directory.
func NewCompilationCacheWithDir(string) (CompilationCache, error) { return noCache{}, nil }

// ModuleConfig is ignored.
type ModuleConfig interface {
	WithSysWalltime() ModuleConfig
	WithStdin(r io.Reader) ModuleConfig
	WithStdout(w io.Writer) ModuleConfig
	WithStderr(w io.Writer) ModuleConfig
	WithEnv(key, value string) ModuleConfig
}

type moduleConfig struct{}

// NewModuleConfig returns a configuration that is ignored.
func NewModuleConfig() ModuleConfig { return moduleConfig{} }

func (c moduleConfig) WithSysWalltime() ModuleConfig       { return c }
func (c moduleConfig) WithStdin(io.Reader) ModuleConfig    { return c }
func (c moduleConfig) WithStdout(io.Writer) ModuleConfig   { return c }
func (c moduleConfig) WithStderr(io.Writer) ModuleConfig   { return c }
func (c moduleConfig) WithEnv(string, string) ModuleConfig { return c }

// RuntimeConfig is ignored.
type RuntimeConfig interface {
	WithCloseOnContextDone(done bool) RuntimeConfig
	WithCompilationCache(c CompilationCache) RuntimeConfig
}

type runtimeConfig struct{}

// NewRuntimeConfigCompiler returns a configuration that is ignored.
func NewRuntimeConfigCompiler() RuntimeConfig { return runtimeConfig{} }

func (c runtimeConfig) WithCloseOnContextDone(bool) RuntimeConfig           { return c }
func (c runtimeConfig) WithCompilationCache(CompilationCache) RuntimeConfig { return c }
