# Which suite runs on which device.
#
#   tenon_suite(NAME configuration... [LONG configuration...] [ASAN configuration...] [TSAN configuration...]
#               [TIMEOUT seconds] [COST n] [CACHE])
#
# tests/test_NAME.c is the suite's program. A suite without a row runs in: host pocl, ASAN host.
# LONG: with scripts/test --all only. ASAN and TSAN say where it also runs in the build trees with sanitizers. COST: the dearest start first.
# CACHE: programs are kept in a folder, as users have it; the other suites keep none.
#
#   host          plain memory; no OpenCL driver in sight
#   none          TENON_OPENCL=none: no OpenCL library either
#   pocl          PoCL alone, cpu:0
#   pocl-wide     the same with the kernels made for GPUs
#   pocl-cold     PoCL with an empty program cache
#   rusticl       Mesa's rusticl alone, a software renderer that is gpu:0
#   rusticl-deep  the same with the kernels made for CPUs
#   both          PoCL as cpu:0 and rusticl as gpu:0
#   oclgrind      Oclgrind, gpu:0; data races and uninitialised reads fail the suite
#   native        this machine's own drivers, gpu:0; only with -DTENON_TEST_NATIVE=ON
#   intel         Intel's CPU runtime, cpu:0; only with -DTENON_TEST_INTEL=FOLDER (scripts/test --all), where pocl is listed

set(TENON_SUITE_DEFAULT host pocl ASAN host)

# base and core: no device needed
tenon_suite(base       host)
tenon_suite(dtype      host)
tenon_suite(dtypes     host)
tenon_suite(errors     host pocl both none)
tenon_suite(scope      host pocl)
tenon_suite(files      host pocl)
tenon_suite(io         host pocl)
tenon_suite(npz        host pocl  ASAN host)
tenon_suite(torch      host pocl  ASAN host)
tenon_suite(shards     host  ASAN host)
tenon_suite(print      host pocl)

# devices
tenon_suite(device     host pocl rusticl both none oclgrind  ASAN host pocl)
tenon_suite(devices    host pocl rusticl both none oclgrind  ASAN host pocl)
tenon_suite(copies     both)
tenon_suite(memory     host pocl rusticl  ASAN host pocl)

# tensors and views
tenon_suite(tensor     host pocl rusticl)
tenon_suite(views      host pocl pocl-wide rusticl oclgrind  ASAN host pocl)
tenon_suite(movement   host pocl rusticl  ASAN host)
tenon_suite(create     host pocl rusticl  ASAN host)
tenon_suite(writes     host pocl rusticl oclgrind  ASAN host pocl)

# the graph and the fuser
tenon_suite(graph      host pocl rusticl  ASAN host pocl)
tenon_suite(fuse       pocl pocl-wide rusticl rusticl-deep oclgrind  TIMEOUT 900 COST 40)
tenon_suite(driver_calls  pocl rusticl  CACHE)
tenon_suite(launches   pocl rusticl  TIMEOUT 900)
tenon_suite(cache      pocl-cold  TIMEOUT 900 CACHE)
tenon_suite(threads    host pocl  ASAN host TSAN host pocl  TIMEOUT 900)

# operations
tenon_suite(sweep      host pocl pocl-wide rusticl rusticl-deep  TIMEOUT 3000 COST 100)
tenon_suite(rows       host pocl rusticl  ASAN host)
tenon_suite(oclgrind   oclgrind  TIMEOUT 1500 COST 90)
tenon_suite(random     host pocl pocl-wide rusticl  TIMEOUT 1500 COST 80)
tenon_suite(random_numbers host pocl pocl-wide rusticl  TIMEOUT 900)
tenon_suite(gradients  host pocl)
tenon_suite(backward   host pocl rusticl  ASAN host  TIMEOUT 900 COST 20)
tenon_suite(autograd   host pocl rusticl  ASAN host pocl)
tenon_suite(autograd_costs host pocl rusticl  ASAN host TSAN host)
tenon_suite(reference  host)
# not under Oclgrind 21.10, which takes comparisons of single values for vectors' and picks wrong maxima (open)
tenon_suite(reduce     host pocl pocl-wide rusticl  LONG rusticl-deep  ASAN host pocl  TIMEOUT 900)
tenon_suite(softmax    host pocl pocl-wide rusticl  LONG rusticl-deep)
tenon_suite(norms      host pocl pocl-wide rusticl  ASAN host)
tenon_suite(statistics host pocl rusticl  ASAN host)
tenon_suite(scan       host pocl rusticl  ASAN host)
tenon_suite(compositions host pocl rusticl  ASAN host)
tenon_suite(sort       host pocl rusticl  ASAN host  TIMEOUT 900)
tenon_suite(matmul     host pocl pocl-wide rusticl rusticl-deep  ASAN host pocl  TIMEOUT 900 COST 50)
tenon_suite(matmul_wide host pocl-wide rusticl oclgrind  ASAN host  TIMEOUT 900)
tenon_suite(linalg     host pocl rusticl)
tenon_suite(solve      host pocl rusticl  LONG rusticl-deep  ASAN host  TIMEOUT 900)
tenon_suite(index      host pocl rusticl oclgrind  ASAN host)
tenon_suite(scatter    host pocl rusticl  ASAN host)

# data, training
tenon_suite(loader     host pocl rusticl  ASAN host TSAN host)
tenon_suite(progress   host)
tenon_suite(memory_report host pocl rusticl  ASAN host)

tenon_suite(device_memory host pocl rusticl both oclgrind  ASAN host pocl TSAN host pocl)
tenon_suite(device_programs pocl rusticl oclgrind  ASAN pocl)
tenon_suite(tool       host pocl rusticl none oclgrind)
tenon_suite(fuzz_io    host  ASAN host)

# networks
tenon_suite(modules    host pocl rusticl  ASAN host)
tenon_suite(layers     host pocl rusticl  ASAN host)
tenon_suite(losses     host pocl rusticl  ASAN host)
# training
tenon_suite(training   host pocl rusticl both  ASAN host  CACHE)
tenon_suite(optimizers host pocl rusticl  ASAN host)
tenon_suite(schedules  host  ASAN host)
tenon_suite(checkpoint host pocl rusticl  ASAN host)
