# Made by docs/completions/make.py (ninja man). Do not edit.

# A chain is completed stage by stage: what stands behind its last comma.
function __sluice_chain
    set -l before (string match -r '^.*,' -- (commandline -ct))
    printf '%s\t%s\n' "$before"abs 'the sample without its sign; of the least i8, i16 or i32 the largest'
    printf '%s\t%s\n' "$before"analysis 'a filter bank: bands of the picture\'s rows and columns, level by level'
    printf '%s\t%s\n' "$before"blend 'a second picture laid over the picture, as a logo'
    printf '%s\t%s\n' "$before"box 'blur: the mean over a window of any size, at about the same cost'
    printf '%s\t%s\n' "$before"canny 'white lines, one pixel wide, where the picture changes most, on black'
    printf '%s\t%s\n' "$before"clahe 'equalize by tiles, with limited contrast: details come out of shadows and of haze'
    printf '%s\t%s\n' "$before"close 'dark specks and gaps taken away: dilate, then erode'
    printf '%s\t%s\n' "$before"colour 'colours mixed anew: a 3x3 matrix times red, green and blue, plus an offset'
    printf '%s\t%s\n' "$before"convert 'samples of another type with the same values, rounded and limited to its range, or quantized; other channels; channels below each other'
    printf '%s\t%s\n' "$before"crop 'a rectangle of the picture'
    printf '%s\t%s\n' "$before"demosaic 'colours out of the mosaic of a camera\'s sensor (Bayer)'
    printf '%s\t%s\n' "$before"difference 'how much the picture and a second one differ'
    printf '%s\t%s\n' "$before"dilate 'light grows: the largest of the samples around each'
    printf '%s\t%s\n' "$before"divide 'the picture divided by a second one, as a flat field'
    printf '%s\t%s\n' "$before"dwt 'the wavelet transform: a plane of averages and planes of details, level by level'
    printf '%s\t%s\n' "$before"equalize 'tones spread so that all are as frequent as each other, as far as they can be'
    printf '%s\t%s\n' "$before"erode 'dark grows: the least of the samples around each'
    printf '%s\t%s\n' "$before"fir 'each sample from a window of its neighbours, weighted by coefficients'
    printf '%s\t%s\n' "$before"flip 'the picture in a mirror: left and right, or top and bottom, change places'
    printf '%s\t%s\n' "$before"gain 'each sample times a number, plus an offset'
    printf '%s\t%s\n' "$before"gauss 'blurred: means of the pixels around each, weighted by a Gaussian'
    printf '%s\t%s\n' "$before"histogram 'in place of the picture, how many samples there are of each value'
    printf '%s\t%s\n' "$before"idwt 'the picture that dwt took apart'
    printf '%s\t%s\n' "$before"invert 'the negative: white minus the sample'
    printf '%s\t%s\n' "$before"levels 'tones between black and white, spread or narrowed to others, along a line or a curve'
    printf '%s\t%s\n' "$before"luminance 'one grey channel from red, green and blue; grey passes, alpha is dropped'
    printf '%s\t%s\n' "$before"mask 'the picture where a mask is not 0, and a background elsewhere'
    printf '%s\t%s\n' "$before"median 'specks taken away: the middle one of the samples around each'
    printf '%s\t%s\n' "$before"normalize 'tones spread so that the darkest become black and the lightest white'
    printf '%s\t%s\n' "$before"open 'light specks taken away: erode, then dilate'
    printf '%s\t%s\n' "$before"pad 'the picture with more pixels around it: a background, or the picture going on'
    printf '%s\t%s\n' "$before"resize 'smaller or larger: weighted means of the pixels around each place'
    printf '%s\t%s\n' "$before"rotate 'the picture turned clockwise, by any angle'
    printf '%s\t%s\n' "$before"shrink 'wavelet coefficients without what is likely noise'
    printf '%s\t%s\n' "$before"sobel 'edges: the gradient by the 3×3 Sobel operator, its length or its parts'
    printf '%s\t%s\n' "$before"statistics 'numbers in place of the picture: how many samples, mean, deviation, percentiles'
    printf '%s\t%s\n' "$before"subtract 'the picture minus a second one, as a dark frame'
    printf '%s\t%s\n' "$before"synthesis 'the inverse of a filter bank: bands put together, level by level'
    printf '%s\t%s\n' "$before"threshold 'two values: one where the sample is at least a threshold, one where it is below'
    printf '%s\t%s\n' "$before"undistort 'the picture without its lens\' distortion'
    printf '%s\t%s\n' "$before"unsharp 'sharper: each sample moved away from the blurred picture'
    printf '%s\t%s\n' "$before"warp 'the picture under an affine or perspective matrix: shifted, turned, sheared, straightened'
end

complete -c sluice -n __fish_use_subcommand -f -a run -d 'run a chain on pictures, here'
complete -c sluice -n __fish_use_subcommand -f -a submit -d 'run a chain on pictures, through the daemon'
complete -c sluice -n __fish_use_subcommand -f -a enqueue -d 'put pictures into the queue of a fleet'
complete -c sluice -n __fish_use_subcommand -f -a view -d 'tune a chain in a browser, or watch the daemon'
complete -c sluice -n __fish_use_subcommand -f -a status -d 'what the daemon does'
complete -c sluice -n __fish_use_subcommand -f -a why -d 'what became of a file, or why it is not done'
complete -c sluice -n __fish_use_subcommand -f -a failed -d 'the files that failed, with their reasons'
complete -c sluice -n __fish_use_subcommand -f -a requeue -d 'do files of watched folders again'
complete -c sluice -n __fish_use_subcommand -f -a compare -d 'how much two pictures differ'
complete -c sluice -n __fish_use_subcommand -f -a stages -d 'the stages and their parameters'
complete -c sluice -n __fish_use_subcommand -f -a devices -d 'the devices, and the one that is used'
complete -c sluice -n __fish_use_subcommand -f -a plan -d 'what a chain would do, without doing it'
complete -c sluice -n __fish_use_subcommand -f -a bench -d 'time stages, chains and whole files'
complete -c sluice -n __fish_use_subcommand -f -a tune -d 'measure which device is faster, by chain and size'
complete -c sluice -n __fish_use_subcommand -f -a check-config -d 'every error of a configuration at once'
complete -c sluice -n __fish_use_subcommand -f -a warm -d 'compile the chains of a configuration before the daemon starts'
complete -c sluice -n __fish_use_subcommand -f -a doctor -d 'problems of this machine, and a fix for each'
complete -c sluice -n __fish_use_subcommand -f -a testcard -d 'draw a picture to try chains on'
complete -c sluice -n __fish_use_subcommand -f -a version -d 'the version (also --version, -V)'
complete -c sluice -n __fish_use_subcommand -f -a help -d 'this text, or the options of a command (also --help, -h)'
complete -c sluice -n '__fish_seen_subcommand_from help' -f -a 'run submit enqueue view status why failed requeue compare stages devices plan bench tune check-config warm doctor testcard version help'
complete -c sluice -n '__fish_seen_subcommand_from stages' -f -a 'abs analysis blend box canny clahe close colour convert crop demosaic difference dilate divide dwt equalize erode fir flip gain gauss histogram idwt invert levels luminance mask median normalize open pad resize rotate shrink sobel statistics subtract synthesis threshold undistort unsharp warp'
complete -c sluice -n '__fish_seen_subcommand_from run' -s c -l chain -d 'stages joined by commas, or the name of a configured chain' -r -f -a '(__sluice_chain)'
complete -c sluice -n '__fish_seen_subcommand_from run' -s o -l output -d 'a file' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -s f -l format -d 'format of the output, with options' -r -f -a 'bmp jpg npy npz png pnm raw'
complete -c sluice -n '__fish_seen_subcommand_from run' -l input -d 'options for reading' -r -f -a 'gray8 gray16 rgb24 rgba32 nv12 yuyv'
complete -c sluice -n '__fish_seen_subcommand_from run' -s r -l recursive -d 'take pictures from all directories below, too'
complete -c sluice -n '__fish_seen_subcommand_from run' -l name -d 'name of results in a directory' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l on-exists -d 'when a result\'s name is taken' -r -f -a 'overwrite skip number fail'
complete -c sluice -n '__fish_seen_subcommand_from run' -l verify -d 'compare the device\'s result with the plain C reference and print the difference'
complete -c sluice -n '__fish_seen_subcommand_from run' -l timing -d 'print how long each step and each kernel took'
complete -c sluice -n '__fish_seen_subcommand_from run' -l iterations -d 'run the kernels N times' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l config -d 'configuration' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l define -d 'a picture for stages that take a second one, as @NAME' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l device -d 'auto' -r -f -a 'auto gpu cpu reference'
complete -c sluice -n '__fish_seen_subcommand_from run' -l platform-index -d 'only the platform with this index of `sluice devices`' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l device-index -d 'only the device with this index within its platform' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l cl-flags -d 'further options for the OpenCL compiler' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l dump-binary -d 'write the compiled program there' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l load-binary -d 'take the compiled program from there' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l no-fuse -d 'give each stage kernels of its own, for comparison'
complete -c sluice -n '__fish_seen_subcommand_from run' -l max-pixels -d 'largest picture that is read' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l max-file -d 'largest file that is read' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l memory -d 'memory for pictures, all jobs together' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l threads -d 'files at once' -r
complete -c sluice -n '__fish_seen_subcommand_from run' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from run' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from run' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from run' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from submit' -s s -l socket -d 'the daemon\'s jobs socket' -r
complete -c sluice -n '__fish_seen_subcommand_from submit' -s c -l chain -d 'stages joined by commas, or the name of a configured chain' -r -f -a '(__sluice_chain)'
complete -c sluice -n '__fish_seen_subcommand_from submit' -s o -l output -d 'a file' -r
complete -c sluice -n '__fish_seen_subcommand_from submit' -s f -l format -d 'format of the output, with options' -r -f -a 'bmp jpg npy npz png pnm raw'
complete -c sluice -n '__fish_seen_subcommand_from submit' -l input -d 'options for reading' -r -f -a 'gray8 gray16 rgb24 rgba32 nv12 yuyv'
complete -c sluice -n '__fish_seen_subcommand_from submit' -s r -l recursive -d 'take pictures from all directories below, too'
complete -c sluice -n '__fish_seen_subcommand_from submit' -l name -d 'name of results in a directory' -r
complete -c sluice -n '__fish_seen_subcommand_from submit' -l on-exists -d 'when a result\'s name is taken' -r -f -a 'overwrite skip number fail'
complete -c sluice -n '__fish_seen_subcommand_from submit' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from submit' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from submit' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from submit' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -s c -l chain -d 'stages joined by commas, or the name of a chain that the machines know' -r -f -a '(__sluice_chain)'
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -s f -l format -d 'of the results, with options' -r -f -a 'bmp jpg npy npz png pnm raw'
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -l input -d 'how to read' -r
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -s o -l output -d 'wait for the results and write them to OUT' -r
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -l wait -d 'wait until all are done, and print what failed'
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -l collect -d 'queue nothing'
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -l timeout -d 'how long to wait for results' -r
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -l result -d 'URL below which the machines store results under their names' -r
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -l class -d 'class of the jobs, by which a fleet can be divided' -r
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -l id -d 'id of a single job' -r
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -l again -d 'do pictures again, under other ids, even if they have results'
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -s s -l server -d 'NATS server, in place of relay.servers of the configuration' -r
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -l credentials -d 'in place of relay.credentials' -r
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -l ca -d 'in place of relay.tls.ca' -r
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -l config -d 'configuration' -r
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from enqueue' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from view' -s c -l chain -d 'the chain to begin with' -r -f -a '(__sluice_chain)'
complete -c sluice -n '__fish_seen_subcommand_from view' -l input -d 'how to read' -r
complete -c sluice -n '__fish_seen_subcommand_from view' -s r -l recursive -d 'take folders in folders, too'
complete -c sluice -n '__fish_seen_subcommand_from view' -l daemon -d 'show a running sluiced instead of files'
complete -c sluice -n '__fish_seen_subcommand_from view' -l http-socket -d 'the daemon\'s HTTP socket' -r
complete -c sluice -n '__fish_seen_subcommand_from view' -l port -d 'of 127.0.0.1' -r
complete -c sluice -n '__fish_seen_subcommand_from view' -l no-open -d 'open no browser, also where a desktop is'
complete -c sluice -n '__fish_seen_subcommand_from view' -l once -d 'end when the page has been closed'
complete -c sluice -n '__fish_seen_subcommand_from view' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from view' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from view' -l config -d 'configuration' -r
complete -c sluice -n '__fish_seen_subcommand_from view' -l define -d 'a picture for stages that take a second one, as @NAME' -r
complete -c sluice -n '__fish_seen_subcommand_from view' -l device -d 'auto' -r -f -a 'auto gpu cpu reference'
complete -c sluice -n '__fish_seen_subcommand_from view' -l platform-index -d 'only the platform with this index of `sluice devices`' -r
complete -c sluice -n '__fish_seen_subcommand_from view' -l device-index -d 'only the device with this index within its platform' -r
complete -c sluice -n '__fish_seen_subcommand_from view' -l cl-flags -d 'further options for the OpenCL compiler' -r
complete -c sluice -n '__fish_seen_subcommand_from view' -l no-fuse -d 'give each stage kernels of its own, for comparison'
complete -c sluice -n '__fish_seen_subcommand_from view' -l max-pixels -d 'largest picture that is read' -r
complete -c sluice -n '__fish_seen_subcommand_from view' -l max-file -d 'largest file that is read' -r
complete -c sluice -n '__fish_seen_subcommand_from view' -l memory -d 'memory for pictures, all jobs together' -r
complete -c sluice -n '__fish_seen_subcommand_from view' -l threads -d 'files at once' -r
complete -c sluice -n '__fish_seen_subcommand_from view' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from status' -s s -l socket -d 'the daemon\'s jobs socket' -r
complete -c sluice -n '__fish_seen_subcommand_from status' -s w -l watch -d 'print it again every second, until the daemon ends or Ctrl-C'
complete -c sluice -n '__fish_seen_subcommand_from status' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from status' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from status' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from status' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from why' -s s -l socket -d 'the daemon\'s jobs socket' -r
complete -c sluice -n '__fish_seen_subcommand_from why' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from why' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from why' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from why' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from failed' -s s -l socket -d 'the daemon\'s jobs socket' -r
complete -c sluice -n '__fish_seen_subcommand_from failed' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from failed' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from failed' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from failed' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from requeue' -s s -l socket -d 'the daemon\'s jobs socket' -r
complete -c sluice -n '__fish_seen_subcommand_from requeue' -l failed -d 'all that failed, in all watched folders'
complete -c sluice -n '__fish_seen_subcommand_from requeue' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from requeue' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from requeue' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from requeue' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from compare' -l input -d 'options for reading' -r
complete -c sluice -n '__fish_seen_subcommand_from compare' -l max-pixels -d 'largest picture that is read' -r
complete -c sluice -n '__fish_seen_subcommand_from compare' -l max-file -d 'largest file that is read' -r
complete -c sluice -n '__fish_seen_subcommand_from compare' -l memory -d 'memory for pictures, all jobs together' -r
complete -c sluice -n '__fish_seen_subcommand_from compare' -l threads -d 'files at once' -r
complete -c sluice -n '__fish_seen_subcommand_from compare' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from compare' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from compare' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from compare' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from stages' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from stages' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from stages' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from stages' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from devices' -l device -d 'auto' -r -f -a 'auto gpu cpu reference'
complete -c sluice -n '__fish_seen_subcommand_from devices' -l platform-index -d 'only the platform with this index of `sluice devices`' -r
complete -c sluice -n '__fish_seen_subcommand_from devices' -l device-index -d 'only the device with this index within its platform' -r
complete -c sluice -n '__fish_seen_subcommand_from devices' -l cl-flags -d 'further options for the OpenCL compiler' -r
complete -c sluice -n '__fish_seen_subcommand_from devices' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from devices' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from devices' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from devices' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from plan' -s c -l chain -d 'the chain' -r -f -a '(__sluice_chain)'
complete -c sluice -n '__fish_seen_subcommand_from plan' -l type -d 'of the picture\'s samples' -r
complete -c sluice -n '__fish_seen_subcommand_from plan' -s f -l format -d 'of the output' -r -f -a 'bmp jpg npy npz png pnm raw'
complete -c sluice -n '__fish_seen_subcommand_from plan' -l profile -d 'plan for a class of device that need not be there' -r
complete -c sluice -n '__fish_seen_subcommand_from plan' -l board -d 'plan for an ARM board, and say what bounds each kernel there and how long it takes at least' -r
complete -c sluice -n '__fish_seen_subcommand_from plan' -l source -d 'print the OpenCL C program instead'
complete -c sluice -n '__fish_seen_subcommand_from plan' -l generic -d 'plan generic kernels, as the daemon has for unconfigured chains'
complete -c sluice -n '__fish_seen_subcommand_from plan' -l config -d 'configuration' -r
complete -c sluice -n '__fish_seen_subcommand_from plan' -l define -d 'a picture for stages that take a second one, as @NAME' -r
complete -c sluice -n '__fish_seen_subcommand_from plan' -l device -d 'auto' -r -f -a 'auto gpu cpu reference'
complete -c sluice -n '__fish_seen_subcommand_from plan' -l platform-index -d 'only the platform with this index of `sluice devices`' -r
complete -c sluice -n '__fish_seen_subcommand_from plan' -l device-index -d 'only the device with this index within its platform' -r
complete -c sluice -n '__fish_seen_subcommand_from plan' -l cl-flags -d 'further options for the OpenCL compiler' -r
complete -c sluice -n '__fish_seen_subcommand_from plan' -l no-fuse -d 'give each stage kernels of its own, for comparison'
complete -c sluice -n '__fish_seen_subcommand_from plan' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from plan' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from plan' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from plan' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from bench' -s c -l chain -d 'the chain to time, in place of stages' -r -f -a '(__sluice_chain)'
complete -c sluice -n '__fish_seen_subcommand_from bench' -l size -d 'size of the picture' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l type -d 'type of its samples' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l iterations -d 'number of timed runs, after one that is not timed' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l variants -d 'time the alternatives, too'
complete -c sluice -n '__fish_seen_subcommand_from bench' -l report -d 'also write all rows to a file, with the device, the versions of driver and kernel, clocks and temperatures, to share with others' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l board -d 'the board on which this runs' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l end-to-end -d 'the operands are files'
complete -c sluice -n '__fish_seen_subcommand_from bench' -s f -l format -d 'format of end-to-end\'s results, with options' -r -f -a 'bmp jpg npy npz png pnm raw'
complete -c sluice -n '__fish_seen_subcommand_from bench' -l input -d 'options for reading with end-to-end, as in sluice run' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l bank -d 'of filterbank1d and filterbank2d' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l no-reference -d 'do not time the plain references of filterbank1d'
complete -c sluice -n '__fish_seen_subcommand_from bench' -l config -d 'configuration' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l define -d 'a picture for stages that take a second one, as @NAME' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l device -d 'auto' -r -f -a 'auto gpu cpu reference'
complete -c sluice -n '__fish_seen_subcommand_from bench' -l platform-index -d 'only the platform with this index of `sluice devices`' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l device-index -d 'only the device with this index within its platform' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l cl-flags -d 'further options for the OpenCL compiler' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l dump-binary -d 'write the compiled program there' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l load-binary -d 'take the compiled program from there' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l max-pixels -d 'largest picture that is read' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l max-file -d 'largest file that is read' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l memory -d 'memory for pictures, all jobs together' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l threads -d 'files at once' -r
complete -c sluice -n '__fish_seen_subcommand_from bench' -l no-fuse -d 'give each stage kernels of its own, for comparison'
complete -c sluice -n '__fish_seen_subcommand_from bench' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from bench' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from bench' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from bench' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from tune' -s c -l chain -d 'the chain to measure' -r -f -a '(__sluice_chain)'
complete -c sluice -n '__fish_seen_subcommand_from tune' -l kinds -d 'kinds of pictures to measure, type and channels of each, with commas between them' -r
complete -c sluice -n '__fish_seen_subcommand_from tune' -l cache -d 'where to remember it' -r
complete -c sluice -n '__fish_seen_subcommand_from tune' -l config -d 'configuration' -r
complete -c sluice -n '__fish_seen_subcommand_from tune' -l define -d 'a picture for stages that take a second one, as @NAME' -r
complete -c sluice -n '__fish_seen_subcommand_from tune' -l device -d 'auto' -r -f -a 'auto gpu cpu reference'
complete -c sluice -n '__fish_seen_subcommand_from tune' -l platform-index -d 'only the platform with this index of `sluice devices`' -r
complete -c sluice -n '__fish_seen_subcommand_from tune' -l device-index -d 'only the device with this index within its platform' -r
complete -c sluice -n '__fish_seen_subcommand_from tune' -l cl-flags -d 'further options for the OpenCL compiler' -r
complete -c sluice -n '__fish_seen_subcommand_from tune' -l max-pixels -d 'largest picture that is read' -r
complete -c sluice -n '__fish_seen_subcommand_from tune' -l max-file -d 'largest file that is read' -r
complete -c sluice -n '__fish_seen_subcommand_from tune' -l memory -d 'memory for pictures, all jobs together' -r
complete -c sluice -n '__fish_seen_subcommand_from tune' -l threads -d 'files at once' -r
complete -c sluice -n '__fish_seen_subcommand_from tune' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from tune' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from tune' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from tune' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from check-config' -l reference -d 'print the tables of docs/configuration.md in place of checking anything'
complete -c sluice -n '__fish_seen_subcommand_from check-config' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from check-config' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from check-config' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from check-config' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from warm' -l cache -d 'where to keep compiled kernels' -r
complete -c sluice -n '__fish_seen_subcommand_from warm' -l config -d 'configuration' -r
complete -c sluice -n '__fish_seen_subcommand_from warm' -l define -d 'a picture for stages that take a second one, as @NAME' -r
complete -c sluice -n '__fish_seen_subcommand_from warm' -l device -d 'auto' -r -f -a 'auto gpu cpu reference'
complete -c sluice -n '__fish_seen_subcommand_from warm' -l platform-index -d 'only the platform with this index of `sluice devices`' -r
complete -c sluice -n '__fish_seen_subcommand_from warm' -l device-index -d 'only the device with this index within its platform' -r
complete -c sluice -n '__fish_seen_subcommand_from warm' -l cl-flags -d 'further options for the OpenCL compiler' -r
complete -c sluice -n '__fish_seen_subcommand_from warm' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from warm' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from warm' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from warm' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from doctor' -l user -d 'user as whom the daemon runs' -r
complete -c sluice -n '__fish_seen_subcommand_from doctor' -l config -d 'configuration' -r
complete -c sluice -n '__fish_seen_subcommand_from doctor' -l device -d 'auto' -r -f -a 'auto gpu cpu reference'
complete -c sluice -n '__fish_seen_subcommand_from doctor' -l platform-index -d 'only the platform with this index of `sluice devices`' -r
complete -c sluice -n '__fish_seen_subcommand_from doctor' -l device-index -d 'only the device with this index within its platform' -r
complete -c sluice -n '__fish_seen_subcommand_from doctor' -l cl-flags -d 'further options for the OpenCL compiler' -r
complete -c sluice -n '__fish_seen_subcommand_from doctor' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from doctor' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from doctor' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from doctor' -s h -l help -d 'this text'
complete -c sluice -n '__fish_seen_subcommand_from testcard' -s o -l output -d 'where to write it' -r
complete -c sluice -n '__fish_seen_subcommand_from testcard' -s f -l format -d 'else by the file\'s name' -r -f -a 'bmp jpg npy npz png pnm raw'
complete -c sluice -n '__fish_seen_subcommand_from testcard' -l size -d 'in pixels' -r
complete -c sluice -n '__fish_seen_subcommand_from testcard' -l json -d 'machine-readable output on stdout'
complete -c sluice -n '__fish_seen_subcommand_from testcard' -s q -l quiet -d 'say nothing but errors'
complete -c sluice -n '__fish_seen_subcommand_from testcard' -s v -l verbose -d 'say what is done'
complete -c sluice -n '__fish_seen_subcommand_from testcard' -s h -l help -d 'this text'
complete -c sluiced -s w -l watch -d 'folder whose new pictures are taken' -r -f -a '(__fish_complete_directories)'
complete -c sluiced -s o -l output -d 'folder for the results' -r
complete -c sluiced -s c -l chain -d 'name of a chain of the file, or stages joined by commas' -r -f -a '(__sluice_chain)'
complete -c sluiced -s f -l format -d 'format of the results, with options' -r -f -a 'bmp jpg npy npz png pnm raw'
complete -c sluiced -l input -d 'options for reading' -r
complete -c sluiced -l name -d 'name of results' -r
complete -c sluiced -l folder -d 'folder for the results below `output`, which is made' -r
complete -c sluiced -l on-exists -d 'when the result\'s name is taken' -r -f -a 'number overwrite fail'
complete -c sluiced -l originals -d 'what happens to originals' -r -f -a 'done delete keep'
complete -c sluiced -l report -d 'file' -r -f -a 'none file'
complete -c sluiced -l on-done -d 'program that is told of each file that is done, with fixed arguments behind blanks' -r
complete -c sluiced -l on-failed -d 'the same for each file that has failed' -r
complete -c sluiced -l hook-time -d 'time that such a program may take' -r
complete -c sluiced -l claim -d 'how files are taken' -r -f -a 'rename none'
complete -c sluiced -l sync -d 'whether results are synced to the disk before they count' -r -f -a 'each batch off'
complete -c sluiced -l settle -d 'time for which nobody may have opened or changed a file that was closed after writing' -r
complete -c sluiced -l stable -d 'time without a change after which a found file counts as complete' -r
complete -c sluiced -l mode -d 'how new files are noticed' -r -f -a 'auto inotify poll'
complete -c sluiced -l state -d 'directory for what is kept between runs' -r -f -a '(__fish_complete_directories)'
complete -c sluiced -l device -d 'auto' -r -f -a 'auto gpu cpu reference'
complete -c sluiced -l fallback -d 'what does the work while the device fails' -r -f -a 'auto gpu cpu reference'
complete -c sluiced -l sandbox -d 'the worker\'s sandbox' -r -f -a 'auto required off'
complete -c sluiced -l max-pixels -d 'largest picture that is read' -r
complete -c sluiced -l max-file -d 'largest file that is read' -r
complete -c sluiced -l memory -d 'memory for pictures, all jobs together' -r
complete -c sluiced -l jobs -d 'pictures at once' -r
complete -c sluiced -l queue -d 'files that are claimed at a time' -r
complete -c sluiced -l job-time -d 'time that a picture may take' -r
complete -c sluiced -l worker-jobs -d 'jobs after which the worker is replaced by a fresh one' -r
complete -c sluiced -l worker-time -d 'time after which it is replaced' -r
complete -c sluiced -l worker-growth -d 'growth of its memory after which it is replaced' -r
complete -c sluiced -l shutdown -d 'time that running jobs get when the daemon is told to stop' -r
complete -c sluiced -l min-free -d 'space that stays free where results and claimed files are' -r
complete -c sluiced -l http-socket -d 'Unix socket for jobs and health over HTTP' -r
complete -c sluiced -l jobs-socket -d 'Unix socket for jobs by descriptors' -r
complete -c sluiced -l log-format -d 'lines of text, or a JSON object on each line' -r -f -a 'text json'
complete -c sluiced -l config -d 'configuration' -r
complete -c sluiced -l once -d 'end when all files that are in the folders are done'
complete -c sluiced -s q -l quiet -d 'log errors only'
complete -c sluiced -s v -l verbose -d 'log more'
complete -c sluiced -s V -l version -d 'print the version'
complete -c sluiced -s h -l help -d 'this text'
