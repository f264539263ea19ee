"""Run by lldb: what it says of addresses by a Breakpad symbol file, as lines
'ADDRESS<tab>FUNCTION<tab>FILE:LINE' of the function and the innermost line."""
import lldb


def answer(module, address):
    context = module.ResolveSymbolContextForAddress(
        module.ResolveFileAddress(address), lldb.eSymbolContextEverything)
    function, entry = context.GetFunction(), context.GetLineEntry()
    name = function.GetName() if function.IsValid() else "??"
    if not entry.IsValid():
        return name, "??:0"
    return name, "%s:%d" % (entry.GetFileSpec().fullpath, entry.GetLine())


def run(binary, symbols, asked, written):
    target = lldb.debugger.CreateTarget(binary)
    result = lldb.SBCommandReturnObject()
    lldb.debugger.GetCommandInterpreter().HandleCommand(
        "target symbols add -s %s %s" % (binary, symbols), result)
    if not result.Succeeded():
        raise RuntimeError(result.GetError())
    module = target.GetModuleAtIndex(0)
    with open(written, "w") as out:
        for line in open(asked):
            out.write("%s\t%s\t%s\n" % (
                (line.strip(),) + answer(module, int(line, 16))))
