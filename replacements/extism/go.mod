module github.com/extism/go-sdk

go 1.26.0

require github.com/tetratelabs/wazero v1.11.0

replace github.com/tetratelabs/wazero => ../wazero
