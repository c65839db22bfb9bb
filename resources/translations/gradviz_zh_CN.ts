<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>gradviz</name>
    <message>
        <source>&amp;100 %</source>
        <translation>&amp;100 %</translation>
    </message>
    <message>
        <source>&amp;About gradviz</source>
        <translation>关于 gradviz(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Ask again before running</source>
        <translation>运行前重新询问(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Back</source>
        <translation>后退(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Between the two selected nodes</source>
        <translation>所选两个节点之间(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Bookmark</source>
        <translation>书签(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Close the tab</source>
        <translation>关闭标签页(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Compare with …</source>
        <translation>与另一次比较(&amp;C)…</translation>
    </message>
    <message>
        <source>&amp;Copy the picture</source>
        <translation>复制图片(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Direction</source>
        <translation>方向(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Everything</source>
        <translation>全部(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Export …</source>
        <translation>导出(&amp;E)…</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Find …</source>
        <translation>查找(&amp;F)…</translation>
    </message>
    <message>
        <source>&amp;Fit</source>
        <translation>适合窗口(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Forward</source>
        <translation>前进(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Go</source>
        <translation>转到(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Inputs that need no gradient</source>
        <translation>不需要梯度的输入(&amp;I)</translation>
    </message>
    <message>
        <source>&amp;Language</source>
        <translation>语言(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Leaves inside their operation</source>
        <translation>叶子放进其操作(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Next bookmark</source>
        <translation>下一个书签(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Next call</source>
        <translation>下一次调用(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Next tab</source>
        <translation>下一个标签页(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Open …</source>
        <translation>打开(&amp;O)…</translation>
    </message>
    <message>
        <source>&amp;Panels</source>
        <translation>面板(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <translation>暂停(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Play</source>
        <translation>播放(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Previous call</source>
        <translation>上一次调用(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Previous tab</source>
        <translation>上一个标签页(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>重做(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Reset the panels</source>
        <translation>重置面板(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>运行(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Run again</source>
        <translation>重新运行(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Save the recording as …</source>
        <translation>记录另存为(&amp;S)…</translation>
    </message>
    <message>
        <source>&amp;Stop</source>
        <translation>停止(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>主题(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;This call only</source>
        <translation>仅此次调用(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Unfold</source>
        <translation>展开(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Where this gradient comes from</source>
        <translation>这个梯度从哪里来(&amp;W)</translation>
    </message>
    <message>
        <source>.grad of its leaves</source>
        <translation>其叶子的 .grad</translation>
    </message>
    <message>
        <source>.grad over calls</source>
        <translation>各次调用中的 .grad</translation>
    </message>
    <message>
        <source>.grad over the calls</source>
        <translation>各次调用中的 .grad</translation>
    </message>
    <message>
        <source>A line for input(), then Enter</source>
        <translation>给 input() 的一行，然后按回车</translation>
    </message>
    <message>
        <source>A menu entry, an icon, and recordings open with gradviz</source>
        <translation>添加菜单项和图标，并用 gradviz 打开记录</translation>
    </message>
    <message>
        <source>A quotation mark is open.</source>
        <translation>有一个引号没有闭合。</translation>
    </message>
    <message>
        <source>About gradviz</source>
        <translation>关于 gradviz</translation>
    </message>
    <message>
        <source>About the selected node</source>
        <translation>关于所选节点</translation>
    </message>
    <message>
        <source>Add gradviz to the &amp;desktop</source>
        <translation>把 gradviz 添加到桌面(&amp;D)</translation>
    </message>
    <message>
        <source>All files</source>
        <translation>所有文件</translation>
    </message>
    <message>
        <source>All nodes that are ready at the same time together</source>
        <translation>同时就绪的节点一起播放</translation>
    </message>
    <message>
        <source>All {n} gradients are equal.</source>
        <translation>全部 {n} 个梯度都相同。</translation>
    </message>
    <message>
        <source>Always run scripts in {folder}</source>
        <translation>总是运行 {folder} 里的脚本</translation>
    </message>
    <message>
        <source>Arguments</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>Arguments of the script</source>
        <translation>脚本的参数</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Back to the start of this call, or of the one before</source>
        <translation>回到这次调用或上一次调用的开头</translation>
    </message>
    <message>
        <source>Before anything has moved</source>
        <translation>一切尚未开始</translation>
    </message>
    <message>
        <source>Begin again at the end</source>
        <translation>到结尾后重新开始</translation>
    </message>
    <message>
        <source>Bookmark</source>
        <translation>书签</translation>
    </message>
    <message>
        <source>Box &amp;above</source>
        <translation>上面的方框(&amp;A)</translation>
    </message>
    <message>
        <source>Box &amp;below</source>
        <translation>下面的方框(&amp;B)</translation>
    </message>
    <message>
        <source>Box to the &amp;left</source>
        <translation>左边的方框(&amp;L)</translation>
    </message>
    <message>
        <source>Box to the &amp;right</source>
        <translation>右边的方框(&amp;R)</translation>
    </message>
    <message>
        <source>Calls</source>
        <translation>调用</translation>
    </message>
    <message>
        <source>Calls of the script</source>
        <translation>脚本的调用</translation>
    </message>
    <message>
        <source>Calls to compare with</source>
        <translation>可以比较的调用</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Choose the folder</source>
        <translation>选择文件夹</translation>
    </message>
    <message>
        <source>Choose the interpreter, the arguments and the folder</source>
        <translation>选择解释器、参数和文件夹</translation>
    </message>
    <message>
        <source>Click a node to see what arrives there and what leaves it.</source>
        <translation>点击一个节点，查看到达它和离开它的梯度。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Close the search</source>
        <translation>关闭查找</translation>
    </message>
    <message>
        <source>Close this script or recording</source>
        <translation>关闭这个脚本或记录</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Command &amp;palette …</source>
        <translation>命令面板(&amp;P)…</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Compare {left} with:</source>
        <translation>把 {left} 与下列之一比较：</translation>
    </message>
    <message>
        <source>Comparing …</source>
        <translation>正在比较…</translation>
    </message>
    <message>
        <source>Console</source>
        <translation>控制台</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy as CSV</source>
        <translation>复制为 CSV</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>复制为文本</translation>
    </message>
    <message>
        <source>Copy as torch.tensor(…)</source>
        <translation>复制为 torch.tensor(…)</translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation>复制命令</translation>
    </message>
    <message>
        <source>Copy the whole output</source>
        <translation>复制全部输出</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>Differences</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>Direction</source>
        <translation>方向</translation>
    </message>
    <message>
        <source>Do it again</source>
        <translation>再做一次</translation>
    </message>
    <message>
        <source>Do not run</source>
        <translation>不运行</translation>
    </message>
    <message>
        <source>Drawing the graph …</source>
        <translation>正在绘制图…</translation>
    </message>
    <message>
        <source>Earlier runs, not saved</source>
        <translation>以前的运行（未保存）</translation>
    </message>
    <message>
        <source>End gradviz</source>
        <translation>结束 gradviz</translation>
    </message>
    <message>
        <source>Engine order</source>
        <translation>引擎顺序</translation>
    </message>
    <message>
        <source>English</source>
        <translation>English</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Every backward call of the script appears here.</source>
        <translation>脚本的每次 backward 调用都显示在这里。</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Everything has arrived</source>
        <translation>全部到达之后</translation>
    </message>
    <message>
        <source>Examples</source>
        <translation>示例</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>F&amp;aster</source>
        <translation>加快(&amp;A)</translation>
    </message>
    <message>
        <source>F&amp;old as at first</source>
        <translation>恢复最初的折叠(&amp;O)</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>File and run</source>
        <translation>文件与运行</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Find any action by its name</source>
        <translation>按名称查找任何操作</translation>
    </message>
    <message>
        <source>Find nodes</source>
        <translation>查找节点</translation>
    </message>
    <message>
        <source>Find nodes by name, op, line, module or shape</source>
        <translation>按名称、运算、行号、模块或形状查找节点</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>发现</translation>
    </message>
    <message>
        <source>Fo&amp;ld</source>
        <translation>折叠(&amp;L)</translation>
    </message>
    <message>
        <source>Fold</source>
        <translation>折叠</translation>
    </message>
    <message>
        <source>Fold as at first</source>
        <translation>恢复最初的折叠</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Following the gradients …</source>
        <translation>正在追踪梯度…</translation>
    </message>
    <message>
        <source>Forget these</source>
        <translation>清除这些</translation>
    </message>
    <message>
        <source>Forget which scripts and folders may run</source>
        <translation>忘记哪些脚本和文件夹可以运行</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>From the selection to the &amp;root</source>
        <translation>从所选到根(&amp;R)</translation>
    </message>
    <message>
        <source>Go to the place that was left by Back</source>
        <translation>回到后退之前的位置</translation>
    </message>
    <message>
        <source>Go to the place that was looked at before</source>
        <translation>回到之前看过的位置</translation>
    </message>
    <message>
        <source>Gradient flows down</source>
        <translation>梯度向下流</translation>
    </message>
    <message>
        <source>Gradient flows to the left</source>
        <translation>梯度向左流</translation>
    </message>
    <message>
        <source>Gradient flows to the right</source>
        <translation>梯度向右流</translation>
    </message>
    <message>
        <source>Gradient flows up</source>
        <translation>梯度向上流</translation>
    </message>
    <message>
        <source>Graph of gradients</source>
        <translation>梯度图</translation>
    </message>
    <message>
        <source>Heat map</source>
        <translation>热图</translation>
    </message>
    <message>
        <source>Heat map of the tensor</source>
        <translation>张量的热图</translation>
    </message>
    <message>
        <source>Hide {name}</source>
        <translation>隐藏“{name}”</translation>
    </message>
    <message>
        <source>High contrast</source>
        <translation>高对比度</translation>
    </message>
    <message>
        <source>Histogram</source>
        <translation>直方图</translation>
    </message>
    <message>
        <source>Histogram of the tensor</source>
        <translation>张量的直方图</translation>
    </message>
    <message>
        <source>How colours are to be read</source>
        <translation>颜色的含义</translation>
    </message>
    <message>
        <source>How fast the gradients move</source>
        <translation>梯度移动的速度</translation>
    </message>
    <message>
        <source>How the tensor is shown</source>
        <translation>张量的显示方式</translation>
    </message>
    <message>
        <source>Input for the script</source>
        <translation>给脚本的输入</translation>
    </message>
    <message>
        <source>Interpreter</source>
        <translation>解释器</translation>
    </message>
    <message>
        <source>Keep this recording in a file</source>
        <translation>把这份记录保存到文件</translation>
    </message>
    <message>
        <source>L&amp;oop</source>
        <translation>循环(&amp;O)</translation>
    </message>
    <message>
        <source>Left</source>
        <translation>左</translation>
    </message>
    <message>
        <source>Legend</source>
        <translation>图例</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Looking …</source>
        <translation>正在查看…</translation>
    </message>
    <message>
        <source>Making it …</source>
        <translation>正在生成…</translation>
    </message>
    <message>
        <source>Map of the whole graph</source>
        <translation>整个图的缩略图</translation>
    </message>
    <message>
        <source>Mark the selected boxes, or take the mark away</source>
        <translation>给所选方框加上或去掉书签</translation>
    </message>
    <message>
        <source>Move {name} into a window of its own</source>
        <translation>把“{name}”移到单独的窗口</translation>
    </message>
    <message>
        <source>Name, op, line:12, module, shape …</source>
        <translation>名称、运算、line:12、模块、形状…</translation>
    </message>
    <message>
        <source>No backward call so far.</source>
        <translation>目前还没有 backward 调用。</translation>
    </message>
    <message>
        <source>No backward call was recorded, so there is no graph to draw. Call backward() on a result that depends on a tensor with requires_grad=True, or torch.autograd.grad(), then run the script again.</source>
        <translation>没有记录到 backward 调用，所以没有图可画。请在依赖于 requires_grad=True 的张量的结果上调用 backward()，或调用 torch.autograd.grad()，然后重新运行脚本。</translation>
    </message>
    <message>
        <source>Node</source>
        <translation>节点</translation>
    </message>
    <message>
        <source>Nodes that were found</source>
        <translation>找到的节点</translation>
    </message>
    <message>
        <source>None: no gradient is defined here, which is not the same as zero.</source>
        <translation>None：这里没有定义梯度，这与零不同。</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>现在不</translation>
    </message>
    <message>
        <source>Nothing in this graph belongs to that view.</source>
        <translation>这个图里没有属于该视图的内容。</translation>
    </message>
    <message>
        <source>Nothing unusual was found.</source>
        <translation>没有发现异常。</translation>
    </message>
    <message>
        <source>Nothing was found.</source>
        <translation>没有找到。</translation>
    </message>
    <message>
        <source>Numbers</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>On macOS choose gradviz under “Open With” in the information of a recording.</source>
        <translation>在 macOS 上，请在记录文件的简介中于“打开方式”里选择 gradviz。</translation>
    </message>
    <message>
        <source>On the clipboard: {line}</source>
        <translation>已放到剪贴板：{line}</translation>
    </message>
    <message>
        <source>On to the next call</source>
        <translation>前往下一次调用</translation>
    </message>
    <message>
        <source>One node after the other, as the engine really ran them</source>
        <translation>按引擎实际运行的次序逐个播放节点</translation>
    </message>
    <message>
        <source>One step of the engine back</source>
        <translation>引擎后退一步</translation>
    </message>
    <message>
        <source>One step of the engine on</source>
        <translation>引擎前进一步</translation>
    </message>
    <message>
        <source>Only a summary of this tensor was recorded; there are no values to save.</source>
        <translation>这个张量只记录了摘要，没有可保存的数值。</translation>
    </message>
    <message>
        <source>Only what has &amp;no gradient</source>
        <translation>仅没有梯度的部分(&amp;N)</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Open &amp;recent</source>
        <translation>最近打开(&amp;R)</translation>
    </message>
    <message>
        <source>Open a script or a recording …</source>
        <translation>打开脚本或记录…</translation>
    </message>
    <message>
        <source>Open a script, a notebook or a recording</source>
        <translation>打开脚本、笔记本或记录</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>Output of the script</source>
        <translation>脚本的输出</translation>
    </message>
    <message>
        <source>Placing {n} boxes …</source>
        <translation>正在排布 {n} 个方框…</translation>
    </message>
    <message>
        <source>Play faster</source>
        <translation>播放得更快</translation>
    </message>
    <message>
        <source>Play or pause</source>
        <translation>播放或暂停</translation>
    </message>
    <message>
        <source>Play slower</source>
        <translation>播放得更慢</translation>
    </message>
    <message>
        <source>Play to this n&amp;ode</source>
        <translation>播放到此节点(&amp;O)</translation>
    </message>
    <message>
        <source>Play until the selected node has handed on its gradient</source>
        <translation>播放到所选节点传出梯度为止</translation>
    </message>
    <message>
        <source>Print</source>
        <translation>打印</translation>
    </message>
    <message>
        <source>Put all panels back where they were at first</source>
        <translation>把所有面板放回最初的位置</translation>
    </message>
    <message>
        <source>Put what is seen on the clipboard</source>
        <translation>把看到的内容放到剪贴板</translation>
    </message>
    <message>
        <source>Reading the recording …</source>
        <translation>正在读取记录…</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>最近</translation>
    </message>
    <message>
        <source>Recordings</source>
        <translation>记录</translation>
    </message>
    <message>
        <source>Recordings open with gradviz from now on.</source>
        <translation>从现在起记录文件用 gradviz 打开。</translation>
    </message>
    <message>
        <source>Reduced &amp;motion</source>
        <translation>减少动画(&amp;M)</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>移除 {name}</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>右</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Run &amp;with …</source>
        <translation>按选项运行(&amp;W)…</translation>
    </message>
    <message>
        <source>Run again</source>
        <translation>重新运行</translation>
    </message>
    <message>
        <source>Run the script and record what its backward calls do</source>
        <translation>运行脚本，并记录其中每次 backward 调用做了什么</translation>
    </message>
    <message>
        <source>Run {name}?</source>
        <translation>运行 {name} 吗？</translation>
    </message>
    <message>
        <source>Running {name}</source>
        <translation>正在运行 {name}</translation>
    </message>
    <message>
        <source>S&amp;lower</source>
        <translation>减慢(&amp;L)</translation>
    </message>
    <message>
        <source>Save as</source>
        <translation>另存为</translation>
    </message>
    <message>
        <source>Save as .npy …</source>
        <translation>另存为 .npy…</translation>
    </message>
    <message>
        <source>Save as …</source>
        <translation>另存为…</translation>
    </message>
    <message>
        <source>Save the recording as</source>
        <translation>记录另存为</translation>
    </message>
    <message>
        <source>Save the tensor</source>
        <translation>保存张量</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>比例</translation>
    </message>
    <message>
        <source>Scripts, notebooks and recordings</source>
        <translation>脚本、笔记本和记录</translation>
    </message>
    <message>
        <source>See less, larger</source>
        <translation>看得更少、更大</translation>
    </message>
    <message>
        <source>See more, smaller</source>
        <translation>看得更多、更小</translation>
    </message>
    <message>
        <source>See the graph at its own size</source>
        <translation>按原始大小查看图</translation>
    </message>
    <message>
        <source>See the selected nodes large</source>
        <translation>放大查看所选节点</translation>
    </message>
    <message>
        <source>See the whole graph</source>
        <translation>查看整个图</translation>
    </message>
    <message>
        <source>See this call and another one side by side</source>
        <translation>并排查看这次调用和另一次调用</translation>
    </message>
    <message>
        <source>See what backward() does</source>
        <translation>看清 backward() 做了什么</translation>
    </message>
    <message>
        <source>See what backward() does.

Fonts: {fonts}
Unsaved recordings: {folder}</source>
        <translation>看清 backward() 做了什么。

字体：{fonts}
未保存的记录：{folder}</translation>
    </message>
    <message>
        <source>Select the next box above, along an edge if there is one</source>
        <translation>选择上面的下一个方框，有边时沿着边走</translation>
    </message>
    <message>
        <source>Select the next box below, along an edge if there is one</source>
        <translation>选择下面的下一个方框，有边时沿着边走</translation>
    </message>
    <message>
        <source>Select the next box to the left, along an edge if there is one</source>
        <translation>选择左边的下一个方框，有边时沿着边走</translation>
    </message>
    <message>
        <source>Select the next box to the right, along an edge if there is one</source>
        <translation>选择右边的下一个方框，有边时沿着边走</translation>
    </message>
    <message>
        <source>Select the next marked box</source>
        <translation>选择下一个有书签的方框</translation>
    </message>
    <message>
        <source>Sho&amp;w</source>
        <translation>显示(&amp;W)</translation>
    </message>
    <message>
        <source>Show a part of the graph</source>
        <translation>显示图的一部分</translation>
    </message>
    <message>
        <source>Show as many boxes as can be read at a glance</source>
        <translation>只显示一眼能看清的方框</translation>
    </message>
    <message>
        <source>Show every node by itself</source>
        <translation>逐个显示每个节点</translation>
    </message>
    <message>
        <source>Show me</source>
        <translation>指给我看</translation>
    </message>
    <message>
        <source>Show me: {what}</source>
        <translation>指给我看：{what}</translation>
    </message>
    <message>
        <source>Show only what gets gradient from the selection</source>
        <translation>只突出从所选得到梯度的部分</translation>
    </message>
    <message>
        <source>Show only what hands gradient to the selection</source>
        <translation>只突出把梯度传给所选的部分</translation>
    </message>
    <message>
        <source>Show the group around the selected box as one box</source>
        <translation>把所选方框所在的组显示为一个方框</translation>
    </message>
    <message>
        <source>Show the tab to the left</source>
        <translation>显示左边的标签页</translation>
    </message>
    <message>
        <source>Show the tab to the right</source>
        <translation>显示右边的标签页</translation>
    </message>
    <message>
        <source>Show what is in the selected group</source>
        <translation>显示所选组里的内容</translation>
    </message>
    <message>
        <source>Simplified Chinese</source>
        <translation>简体中文</translation>
    </message>
    <message>
        <source>Slice of dimension {n}</source>
        <translation>第 {n} 维的切片</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>源代码</translation>
    </message>
    <message>
        <source>Source of the script</source>
        <translation>脚本的源代码</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>Step &amp;back</source>
        <translation>后退一步(&amp;B)</translation>
    </message>
    <message>
        <source>Step &amp;forward</source>
        <translation>前进一步(&amp;F)</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop the script; what was recorded is kept</source>
        <translation>停止脚本；已记录的内容会保留</translation>
    </message>
    <message>
        <source>Take bookmarks away</source>
        <translation>去掉书签</translation>
    </message>
    <message>
        <source>Te&amp;xt size</source>
        <translation>文字大小(&amp;X)</translation>
    </message>
    <message>
        <source>Tensor</source>
        <translation>张量</translation>
    </message>
    <message>
        <source>The desktop entry cannot be written: {why}.</source>
        <translation>无法写入桌面条目：{why}。</translation>
    </message>
    <message>
        <source>The export could not be started: {why}.</source>
        <translation>无法开始导出：{why}。</translation>
    </message>
    <message>
        <source>The export ended with status {n}.</source>
        <translation>导出以状态 {n} 结束。</translation>
    </message>
    <message>
        <source>The folder in which the script runs</source>
        <translation>脚本运行所在的文件夹</translation>
    </message>
    <message>
        <source>The gradient is equal.</source>
        <translation>梯度相同。</translation>
    </message>
    <message>
        <source>What the program prints is not recorded with a block of it.</source>
        <translation>只记录程序中的一个代码块时，不记录程序的输出。</translation>
    </message>
    <message>
        <source>The last line that is known to have run is {line}.</source>
        <translation>已知最后运行的是第 {line} 行。</translation>
    </message>
    <message>
        <source>The picture is on the clipboard.</source>
        <translation>图片已放到剪贴板。</translation>
    </message>
    <message>
        <source>The rule here</source>
        <translation>这里的规则</translation>
    </message>
    <message>
        <source>The script could not be run: {why}.</source>
        <translation>无法运行脚本：{why}。</translation>
    </message>
    <message>
        <source>The script does not read its input any more.</source>
        <translation>脚本不再读取输入。</translation>
    </message>
    <message>
        <source>The script has not read what it was given before; this line was not sent.</source>
        <translation>脚本还没有读取之前的输入；这一行没有发送。</translation>
    </message>
    <message>
        <source>The script has not run yet.</source>
        <translation>脚本还没有运行。</translation>
    </message>
    <message>
        <source>The script made no backward call.</source>
        <translation>脚本没有调用 backward。</translation>
    </message>
    <message>
        <source>The script {path} cannot be read: {why}.</source>
        <translation>无法读取脚本 {path}：{why}。</translation>
    </message>
    <message>
        <source>The values could not be read: {why}.</source>
        <translation>无法读取数值：{why}。</translation>
    </message>
    <message>
        <source>The whole graph: press or drag to move what is seen</source>
        <translation>整个图：点击或拖动以移动视野</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>There is no preview of this format; the file is ready to be saved.</source>
        <translation>这种格式没有预览；文件已可以保存。</translation>
    </message>
    <message>
        <source>There is nothing to compare with. Open another recording of the same script first.</source>
        <translation>没有可以比较的内容。请先打开同一脚本的另一份记录。</translation>
    </message>
    <message>
        <source>This did not work</source>
        <translation>没有成功</translation>
    </message>
    <message>
        <source>Time line</source>
        <translation>时间轴</translation>
    </message>
    <message>
        <source>Title and sentence</source>
        <translation>标题和说明</translation>
    </message>
    <message>
        <source>To the &amp;end</source>
        <translation>到结尾(&amp;E)</translation>
    </message>
    <message>
        <source>To the &amp;start</source>
        <translation>到开头(&amp;S)</translation>
    </message>
    <message>
        <source>Transparent ground</source>
        <translation>透明背景</translation>
    </message>
    <message>
        <source>Transport</source>
        <translation>播放控制</translation>
    </message>
    <message>
        <source>Undo the last change of the view</source>
        <translation>撤销视图的上一次改动</translation>
    </message>
    <message>
        <source>Unfold</source>
        <translation>展开</translation>
    </message>
    <message>
        <source>Unfold &amp;everything</source>
        <translation>全部展开(&amp;E)</translation>
    </message>
    <message>
        <source>Unfold everything</source>
        <translation>全部展开</translation>
    </message>
    <message>
        <source>Values of the tensor</source>
        <translation>张量的数值</translation>
    </message>
    <message>
        <source>Version, fonts and folders</source>
        <translation>版本、字体和文件夹</translation>
    </message>
    <message>
        <source>Wave front</source>
        <translation>波前</translation>
    </message>
    <message>
        <source>Welcome</source>
        <translation>欢迎</translation>
    </message>
    <message>
        <source>What</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>What do you want to do?</source>
        <translation>想做什么？</translation>
    </message>
    <message>
        <source>What happens at this step</source>
        <translation>这一步发生了什么</translation>
    </message>
    <message>
        <source>What is worth knowing about the gradients appears here.</source>
        <translation>关于梯度值得知道的内容显示在这里。</translation>
    </message>
    <message>
        <source>What the script prints appears here.</source>
        <translation>脚本打印的内容显示在这里。</translation>
    </message>
    <message>
        <source>What the selection rea&amp;ches</source>
        <translation>所选到达的部分(&amp;C)</translation>
    </message>
    <message>
        <source>What-ifs</source>
        <translation>假设</translation>
    </message>
    <message>
        <source>Where this gradient &amp;goes</source>
        <translation>这个梯度到哪里去(&amp;G)</translation>
    </message>
    <message>
        <source>Where to keep the view that the command needs</source>
        <translation>命令所需的视图保存在哪里</translation>
    </message>
    <message>
        <source>Which stream is shown</source>
        <translation>显示哪个流</translation>
    </message>
    <message>
        <source>Which tensor is shown</source>
        <translation>显示哪个张量</translation>
    </message>
    <message>
        <source>Working directory</source>
        <translation>工作目录</translation>
    </message>
    <message>
        <source>Write what is seen as a picture or an animation</source>
        <translation>把看到的内容写成图片或动画</translation>
    </message>
    <message>
        <source>Zoom &amp;in</source>
        <translation>放大(&amp;I)</translation>
    </message>
    <message>
        <source>Zoom &amp;out</source>
        <translation>缩小(&amp;O)</translation>
    </message>
    <message>
        <source>Zoom to the &amp;selection</source>
        <translation>缩放到所选(&amp;S)</translation>
    </message>
    <message>
        <source>an exception</source>
        <translation>异常</translation>
    </message>
    <message>
        <source>and {n} more</source>
        <translation>还有 {n} 个</translation>
    </message>
    <message>
        <source>arrived at output {n}</source>
        <translation>到达输出 {n}</translation>
    </message>
    <message>
        <source>arrived, {call}</source>
        <translation>到达，{call}</translation>
    </message>
    <message>
        <source>before your hook</source>
        <translation>经过你的钩子之前</translation>
    </message>
    <message>
        <source>call {call}: {beat}</source>
        <translation>调用 {call}：{beat}</translation>
    </message>
    <message>
        <source>call {label}</source>
        <translation>调用 {label}</translation>
    </message>
    <message>
        <source>called from</source>
        <translation>调用自</translation>
    </message>
    <message>
        <source>came in</source>
        <translation>进入</translation>
    </message>
    <message>
        <source>custom functions</source>
        <translation>自定义函数</translation>
    </message>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>did not finish</source>
        <translation>没有完成</translation>
    </message>
    <message>
        <source>drawn as one</source>
        <translation>画成一条</translation>
    </message>
    <message>
        <source>edge</source>
        <translation>边</translation>
    </message>
    <message>
        <source>ended by signal {n}</source>
        <translation>被信号 {n} 结束</translation>
    </message>
    <message>
        <source>everything</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>exactly zero</source>
        <translation>恰好为零</translation>
    </message>
    <message>
        <source>exited with status {n}</source>
        <translation>以状态 {n} 退出</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>已结束</translation>
    </message>
    <message>
        <source>finished in {t}</source>
        <translation>用时 {t}</translation>
    </message>
    <message>
        <source>from</source>
        <translation>从</translation>
    </message>
    <message>
        <source>function</source>
        <translation>函数</translation>
    </message>
    <message>
        <source>gradient at output {n}</source>
        <translation>输出 {n} 处的梯度</translation>
    </message>
    <message>
        <source>gradient left, slot {n}</source>
        <translation>离开的梯度，槽 {n}</translation>
    </message>
    <message>
        <source>gradient on the edge</source>
        <translation>边上的梯度</translation>
    </message>
    <message>
        <source>gradient {value}</source>
        <translation>梯度 {value}</translation>
    </message>
    <message>
        <source>gradviz</source>
        <translation>gradviz</translation>
    </message>
    <message>
        <source>gradviz ended unexpectedly: recordings that can be opened again</source>
        <translation>gradviz 意外结束：可以重新打开的记录</translation>
    </message>
    <message>
        <source>gradviz is in the menu of programs now, and recordings open with it.</source>
        <translation>gradviz 已出现在程序菜单中，记录文件将用它打开。</translation>
    </message>
    <message>
        <source>gradviz itself failed here; please report this:
{trace}</source>
        <translation>gradviz 自身在这里出错了，请报告：
{trace}</translation>
    </message>
    <message>
        <source>gradviz recording</source>
        <translation>gradviz 记录</translation>
    </message>
    <message>
        <source>gradviz runs the script as it is, in a process of its own, and records what its backward calls do. A script can do anything that you can do: run only what you trust.</source>
        <translation>gradviz 在单独的进程里原样运行脚本，并记录其中每次 backward 调用做了什么。脚本能做你能做的任何事：请只运行你信任的脚本。</translation>
    </message>
    <message>
        <source>gradviz will ask again before it runs a script.</source>
        <translation>gradviz 运行脚本前会重新询问。</translation>
    </message>
    <message>
        <source>group {name}, {n} nodes</source>
        <translation>组 {name}，{n} 个节点</translation>
    </message>
    <message>
        <source>how it ended is not known</source>
        <translation>不知道如何结束</translation>
    </message>
    <message>
        <source>in along</source>
        <translation>经由进入</translation>
    </message>
    <message>
        <source>iteration</source>
        <translation>迭代</translation>
    </message>
    <message>
        <source>largest gradient ‖{norm}‖</source>
        <translation>最大梯度 ‖{norm}‖</translation>
    </message>
    <message>
        <source>largest gradients</source>
        <translation>最大的梯度</translation>
    </message>
    <message>
        <source>last {n} lines</source>
        <translation>最后 {n} 行</translation>
    </message>
    <message>
        <source>leaf</source>
        <translation>叶子</translation>
    </message>
    <message>
        <source>leaves</source>
        <translation>叶子</translation>
    </message>
    <message>
        <source>left</source>
        <translation>离开</translation>
    </message>
    <message>
        <source>left, {call}</source>
        <translation>离开，{call}</translation>
    </message>
    <message>
        <source>line</source>
        <translation>行</translation>
    </message>
    <message>
        <source>line {n}</source>
        <translation>第 {n} 行</translation>
    </message>
    <message>
        <source>line {where}</source>
        <translation>第 {where} 行</translation>
    </message>
    <message>
        <source>lines</source>
        <translation>行</translation>
    </message>
    <message>
        <source>lines {where}</source>
        <translation>第 {where} 行</translation>
    </message>
    <message>
        <source>loop</source>
        <translation>循环</translation>
    </message>
    <message>
        <source>made at</source>
        <translation>产生于</translation>
    </message>
    <message>
        <source>made by a backward of order {n}</source>
        <translation>由 {n} 阶反向传播产生</translation>
    </message>
    <message>
        <source>made by the line of the selected node</source>
        <translation>由所选节点的那一行产生</translation>
    </message>
    <message>
        <source>made {n} node: {names}</source>
        <translation>产生 {n} 个节点：{names}</translation>
    </message>
    <message>
        <source>made {n} nodes: {names}</source>
        <translation>产生 {n} 个节点：{names}</translation>
    </message>
    <message>
        <source>max {x}</source>
        <translation>最大 {x}</translation>
    </message>
    <message>
        <source>min {x}</source>
        <translation>最小 {x}</translation>
    </message>
    <message>
        <source>module</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>nan or inf</source>
        <translation>nan 或 inf</translation>
    </message>
    <message>
        <source>no torch</source>
        <translation>没有 torch</translation>
    </message>
    <message>
        <source>nodes</source>
        <translation>节点</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>norm {x}</source>
        <translation>范数 {x}</translation>
    </message>
    <message>
        <source>not in the script</source>
        <translation>不在脚本里</translation>
    </message>
    <message>
        <source>not in this call's graph</source>
        <translation>不在这次调用的图里</translation>
    </message>
    <message>
        <source>not run yet</source>
        <translation>尚未运行</translation>
    </message>
    <message>
        <source>not there</source>
        <translation>不存在</translation>
    </message>
    <message>
        <source>nothing: it did not run</source>
        <translation>没有：它没有运行</translation>
    </message>
    <message>
        <source>of the sum there</source>
        <translation>占那里的和</translation>
    </message>
    <message>
        <source>order</source>
        <translation>阶</translation>
    </message>
    <message>
        <source>out along</source>
        <translation>经由离开</translation>
    </message>
    <message>
        <source>output {n}</source>
        <translation>输出 {n}</translation>
    </message>
    <message>
        <source>raised {type}</source>
        <translation>抛出 {type}</translation>
    </message>
    <message>
        <source>ran, {call}</source>
        <translation>已运行，{call}</translation>
    </message>
    <message>
        <source>range</source>
        <translation>区间</translation>
    </message>
    <message>
        <source>recorded {n} call</source>
        <translation>记录了 {n} 次调用</translation>
    </message>
    <message>
        <source>recorded {n} calls</source>
        <translation>记录了 {n} 次调用</translation>
    </message>
    <message>
        <source>repeated</source>
        <translation>重复</translation>
    </message>
    <message>
        <source>retained</source>
        <translation>保留梯度的</translation>
    </message>
    <message>
        <source>retained .grad</source>
        <translation>保留的 .grad</translation>
    </message>
    <message>
        <source>retains grad</source>
        <translation>保留梯度</translation>
    </message>
    <message>
        <source>root without a graph</source>
        <translation>没有图的根</translation>
    </message>
    <message>
        <source>round {n}</source>
        <translation>第 {n} 轮</translation>
    </message>
    <message>
        <source>running</source>
        <translation>正在运行</translation>
    </message>
    <message>
        <source>running, torch is not imported yet</source>
        <translation>正在运行，尚未导入 torch</translation>
    </message>
    <message>
        <source>saved</source>
        <translation>已保存</translation>
    </message>
    <message>
        <source>saved {name}</source>
        <translation>已保存的 {name}</translation>
    </message>
    <message>
        <source>seed {value}</source>
        <translation>种子 {value}</translation>
    </message>
    <message>
        <source>shape</source>
        <translation>形状</translation>
    </message>
    <message>
        <source>starting …</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>still running</source>
        <translation>仍在运行</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>stopped after {t}</source>
        <translation>{t} 后停止</translation>
    </message>
    <message>
        <source>stopping …</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>the seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>to</source>
        <translation>到</translation>
    </message>
    <message>
        <source>too large to be kept whole: means of blocks are shown</source>
        <translation>太大，未完整保留：显示的是分块均值</translation>
    </message>
    <message>
        <source>undefined (None)</source>
        <translation>未定义 (None)</translation>
    </message>
    <message>
        <source>what</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>with {definition}</source>
        <translation>其中 {definition}</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>{k} of {n}</source>
        <translation>{n} 个中的 {k} 个</translation>
    </message>
    <message>
        <source>{left} and {right}</source>
        <translation>{left} 与 {right}</translation>
    </message>
    <message>
        <source>{name} has changed on the disk.</source>
        <translation>{name} 在磁盘上已改变。</translation>
    </message>
    <message>
        <source>{name}, unfolded. Double-click to fold it.</source>
        <translation>{name}，已展开。双击可折叠。</translation>
    </message>
    <message>
        <source>{name}, needs no gradient</source>
        <translation>{name}，不需要梯度</translation>
    </message>
    <message>
        <source>{name}, output {n}</source>
        <translation>{name}，输出 {n}</translation>
    </message>
    <message>
        <source>{name}, slot {n}</source>
        <translation>{name}，槽 {n}</translation>
    </message>
    <message>
        <source>{n} are equal</source>
        <translation>{n} 个相同</translation>
    </message>
    <message>
        <source>{n} call</source>
        <translation>{n} 次调用</translation>
    </message>
    <message>
        <source>{n} call so far</source>
        <translation>目前 {n} 次调用</translation>
    </message>
    <message>
        <source>{n} calls</source>
        <translation>{n} 次调用</translation>
    </message>
    <message>
        <source>{n} calls in turn</source>
        <translation>{n} 次调用轮流进行</translation>
    </message>
    <message>
        <source>{n} calls so far</source>
        <translation>目前 {n} 次调用</translation>
    </message>
    <message>
        <source>{n} edge</source>
        <translation>{n} 条边</translation>
    </message>
    <message>
        <source>{n} edges</source>
        <translation>{n} 条边</translation>
    </message>
    <message>
        <source>{n} gradient differs</source>
        <translation>{n} 个梯度不同</translation>
    </message>
    <message>
        <source>{n} gradients differ</source>
        <translation>{n} 个梯度不同</translation>
    </message>
    <message>
        <source>{n} is equal</source>
        <translation>{n} 个相同</translation>
    </message>
    <message>
        <source>{n} node</source>
        <translation>{n} 个节点</translation>
    </message>
    <message>
        <source>{n} nodes</source>
        <translation>{n} 个节点</translation>
    </message>
    <message>
        <source>{part} of {whole}</source>
        <translation>{whole} 中的 {part}</translation>
    </message>
    <message>
        <source>{path} cannot be written: {why}.</source>
        <translation>无法写入 {path}：{why}。</translation>
    </message>
    <message>
        <source>{path} was written.</source>
        <translation>已写入 {path}。</translation>
    </message>
    <message>
        <source>{value} from {origin}</source>
        <translation>{value}，来自 {origin}</translation>
    </message>
    <message>
        <source>{value} to {target}</source>
        <translation>{value}，传给 {target}</translation>
    </message>
    <message>
        <source>{words}, the first {n} are listed</source>
        <translation>{words}，列出前 {n} 个</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Findings explained</source>
        <translation>发现说明</translation>
    </message>
    <message>
        <source>Page of a finding</source>
        <translation>发现的说明页</translation>
    </message>
    <message>
        <source>All findings</source>
        <translation>全部发现</translation>
    </message>
    <message>
        <source>Why?</source>
        <translation>为什么？</translation>
    </message>
    <message>
        <source>The page of {code}: cause, example, remedy</source>
        <translation>{code} 的说明页：原因、示例、解决办法</translation>
    </message>
    <message>
        <source>&amp;Findings explained</source>
        <translation>发现说明(&amp;F)</translation>
    </message>
    <message>
        <source>What can go wrong with gradients, why, and what to do</source>
        <translation>梯度可能出哪些问题、为什么、该怎么办</translation>
    </message>
    <message>
        <source>The language changes when no script runs any more.</source>
        <translation>没有脚本运行时语言就会改变。</translation>
    </message>
    <message>
        <source>Close {name}</source>
        <translation>关闭 {name}</translation>
    </message>
    <message>
        <source>This is the root, where the seed enters. Click any node to see what arrives there and what leaves it.</source>
        <translation>这是根，种子从这里进入。点击任意节点，查看到达它和离开它的梯度。</translation>
    </message>
    <message>
        <source>Two calls add up</source>
        <translation>两次调用相加</translation>
    </message>
    <message>
        <source>Two contributions meet</source>
        <translation>两份贡献汇合</translation>
    </message>
    <message>
        <source>A vector needs a seed</source>
        <translation>向量需要种子</translation>
    </message>
    <message>
        <source>The error without a seed</source>
        <translation>没有种子时的错误</translation>
    </message>
    <message>
        <source>x.backward(x)</source>
        <translation>x.backward(x)</translation>
    </message>
    <message>
        <source>grad() returns gradients</source>
        <translation>grad() 返回梯度</translation>
    </message>
    <message>
        <source>Rows of a Jacobian</source>
        <translation>雅可比矩阵的行</translation>
    </message>
    <message>
        <source>A training loop</source>
        <translation>训练循环</translation>
    </message>
    <message>
        <source>The gradient of a gradient</source>
        <translation>梯度的梯度</translation>
    </message>
    <message>
        <source>A function of your own</source>
        <translation>自定义函数</translation>
    </message>
    <message>
        <source>A value was overwritten</source>
        <translation>一个值被覆盖</translation>
    </message>
    <message>
        <source>Backward a second time</source>
        <translation>第二次 backward</translation>
    </message>
    <message>
        <source>One weight, many steps</source>
        <translation>一个权重，许多步</translation>
    </message>
    <message>
        <source>A gradient that vanishes</source>
        <translation>消失的梯度</translation>
    </message>
    <message>
        <source>A block of a GPT</source>
        <translation>GPT 的一个模块</translation>
    </message>
    <message>
        <source>Two backward calls: .grad of a leaf adds up, and retain_grad() keeps what an intermediate received.</source>
        <translation>两次 backward 调用：叶子的 .grad 累加起来，retain_grad() 保留中间结果收到的梯度。</translation>
    </message>
    <message>
        <source>An autograd.Function of one's own is one node; its backward is the Python that you wrote.</source>
        <translation>自定义的 autograd.Function 是一个节点；它的 backward 就是你写的 Python 代码。</translation>
    </message>
    <message>
        <source>The gradient of a gradient: create_graph=True makes the backward pass a graph of its own.</source>
        <translation>梯度的梯度：create_graph=True 让反向传播也成为一张计算图。</translation>
    </message>
    <message>
        <source>One tensor used twice: the two contributions arrive one by one and are added.</source>
        <translation>一个张量被使用两次：两份贡献先后到达并相加。</translation>
    </message>
    <message>
        <source>One block of a GPT: attention and a feed-forward part, each with its residual path.</source>
        <translation>GPT 的一个模块：注意力和前馈部分，各有自己的残差路径。</translation>
    </message>
    <message>
        <source>torch.autograd.grad returns the gradient; .grad stays None.</source>
        <translation>torch.autograd.grad 返回梯度；.grad 仍是 None。</translation>
    </message>
    <message>
        <source>A value that backward needs is overwritten: the node that saved it, and the line that wrote.</source>
        <translation>backward 需要的值被覆盖：保存它的节点，以及写入它的那一行。</translation>
    </message>
    <message>
        <source>One seed gives one row of the Jacobian; functional.jacobian asks for all of them.</source>
        <translation>一个种子给出雅可比矩阵的一行；functional.jacobian 求出所有行。</translation>
    </message>
    <message>
        <source>x.backward(x): the root is the leaf itself, and its gradient is the seed.</source>
        <translation>x.backward(x)：根就是叶子本身，它的梯度就是种子。</translation>
    </message>
    <message>
        <source>The error that everybody meets first: backward() on a tensor with more than one element.</source>
        <translation>每个人最先遇到的错误：对不止一个元素的张量调用 backward()。</translation>
    </message>
    <message>
        <source>A hidden state that is carried on: the second backward walks into a graph that is gone.</source>
        <translation>隐藏状态被带到下一步：第二次 backward 走进了已经释放的计算图。</translation>
    </message>
    <message>
        <source>A vector has no single gradient: the seed says which combination of its elements is meant.</source>
        <translation>向量没有唯一的梯度：种子说明要的是哪种元素组合。</translation>
    </message>
    <message>
        <source>One weight used at every step: its gradient is the sum over the steps.</source>
        <translation>每一步都用同一个权重：它的梯度是各步之和。</translation>
    </message>
    <message>
        <source>A small training loop: zero_grad, backward, step, five times.</source>
        <translation>一个小的训练循环：zero_grad、backward、step，共五次。</translation>
    </message>
    <message>
        <source>A deep stack of sigmoids: the gradient shrinks on its way to the first layer.</source>
        <translation>许多层 sigmoid：梯度在传向第一层的路上不断缩小。</translation>
    </message>
    <message>
        <source>Open a PyTorch script. gradviz asks before it runs, runs it unchanged in a process of its own, records every backward call, and plays the gradients on the graph.</source>
        <translation>打开一个 PyTorch 脚本。gradviz 运行前会询问，在单独的进程里原样运行它，记录每次 backward 调用，并在图上播放梯度。</translation>
    </message>
    <message>
        <source>or drop a script, a notebook or a recording anywhere in this window</source>
        <translation>或把脚本、笔记本或记录拖到这个窗口的任何地方</translation>
    </message>
    <message>
        <source>&amp;Try another seed …</source>
        <translation>尝试另一个种子(&amp;T)…</translation>
    </message>
    <message>
        <source>1 or -1; the same ones for the same number</source>
        <translation>1 或 -1；相同的编号给出相同的值</translation>
    </message>
    <message>
        <source>A click</source>
        <translation>单击</translation>
    </message>
    <message>
        <source>A column</source>
        <translation>一列</translation>
    </message>
    <message>
        <source>A copy of the script is held at call {label}; the script and its recording are not touched.</source>
        <translation>脚本的一个副本停在第 {label} 次调用处；脚本本身和它的记录都不受影响。</translation>
    </message>
    <message>
        <source>A row</source>
        <translation>一行</translation>
    </message>
    <message>
        <source>Call {label} failed because call {earlier} had freed the graph: it went through the same nodes without retain_graph=True, and their saved values are gone. No seed can change that here. At call {earlier} the graph is still whole.</source>
        <translation>第 {label} 次调用失败，是因为第 {earlier} 次调用已经释放了计算图：它没有使用 retain_graph=True 就走过了同样的节点，这些节点保存的值已经没有了。在这里换任何种子都没有用。在第 {earlier} 次调用处，计算图仍然完整。</translation>
    </message>
    <message>
        <source>Call {label} failed: an earlier call had freed its graph.</source>
        <translation>第 {label} 次调用失败：较早的一次调用已经释放了它的计算图。</translation>
    </message>
    <message>
        <source>Call {label} failed: its root is not a single number.</source>
        <translation>第 {label} 次调用失败：它的根不是单个数。</translation>
    </message>
    <message>
        <source>Call {label} failed: its seed does not fit the root.</source>
        <translation>第 {label} 次调用失败：它的种子与根不匹配。</translation>
    </message>
    <message>
        <source>Call {label} has no snapshot any more, and {name} is still running: wait until it has ended, or stop it.</source>
        <translation>第 {label} 次调用的快照已经没有了，而 {name} 仍在运行：请等它结束，或者停止它。</translation>
    </message>
    <message>
        <source>Call {label} is not held any more. To try other seeds there, its script is run again up to that call, with the random numbers of the recording:

{python} {words}

Run it?</source>
        <translation>第 {label} 次调用已不再保持。要在那里尝试其他种子，需要用记录中的随机数把脚本重新运行到那次调用：

{python} {words}

要运行吗？</translation>
    </message>
    <message>
        <source>Call {label}: run it again with another seed</source>
        <translation>第 {label} 次调用：换一个种子再运行一次</translation>
    </message>
    <message>
        <source>Cancelled.</source>
        <translation>已取消。</translation>
    </message>
    <message>
        <source>Choose</source>
        <translation>选择</translation>
    </message>
    <message>
        <source>Choose a seed</source>
        <translation>选择一个种子</translation>
    </message>
    <message>
        <source>Compare with call {label}</source>
        <translation>与第 {label} 次调用比较</translation>
    </message>
    <message>
        <source>Compare with …</source>
        <translation>与另一次比较…</translation>
    </message>
    <message>
        <source>Do not start here</source>
        <translation>不从这里开始</translation>
    </message>
    <message>
        <source>End the snapshot</source>
        <translation>结束快照</translation>
    </message>
    <message>
        <source>End the snapshot of call {label}</source>
        <translation>结束第 {label} 次调用的快照</translation>
    </message>
    <message>
        <source>In the list of calls, and played on the graph: {call}.</source>
        <translation>已列入调用列表，并在图上播放：{call}。</translation>
    </message>
    <message>
        <source>From a spreadsheet, a list, or a printed tensor</source>
        <translation>来自电子表格、列表或打印出来的张量</translation>
    </message>
    <message>
        <source>It fits: {shape}, {dtype}.</source>
        <translation>匹配：{shape}，{dtype}。</translation>
    </message>
    <message>
        <source>Looking at call {label} …</source>
        <translation>正在查看第 {label} 次调用…</translation>
    </message>
    <message>
        <source>No gradient at all</source>
        <translation>完全没有梯度</translation>
    </message>
    <message>
        <source>Normal; the same ones for the same number</source>
        <translation>正态分布；相同的编号给出相同的值</translation>
    </message>
    <message>
        <source>One element (one-hot)</source>
        <translation>一个元素（one-hot）</translation>
    </message>
    <message>
        <source>One row of the Jacobian</source>
        <translation>雅可比矩阵的一行</translation>
    </message>
    <message>
        <source>Ones</source>
        <translation>全 1</translation>
    </message>
    <message>
        <source>Ones in one column of the root</source>
        <translation>根的某一列为 1</translation>
    </message>
    <message>
        <source>Ones in one row of the root</source>
        <translation>根的某一行为 1</translation>
    </message>
    <message>
        <source>Paste numbers</source>
        <translation>粘贴数字</translation>
    </message>
    <message>
        <source>Random numbers</source>
        <translation>随机数</translation>
    </message>
    <message>
        <source>Random signs</source>
        <translation>随机正负号</translation>
    </message>
    <message>
        <source>Right − left</source>
        <translation>右 − 左</translation>
    </message>
    <message>
        <source>Root</source>
        <translation>根</translation>
    </message>
    <message>
        <source>Root: where the gradient starts</source>
        <translation>根：梯度从这里开始</translation>
    </message>
    <message>
        <source>Run it again</source>
        <translation>重新运行</translation>
    </message>
    <message>
        <source>Run my hooks too: {names}</source>
        <translation>同时运行我的钩子：{names}</translation>
    </message>
    <message>
        <source>Run the script again?</source>
        <translation>重新运行脚本吗？</translation>
    </message>
    <message>
        <source>Run this call again with another seed, and see what the engine does with it</source>
        <translation>换一个种子再运行这次调用，看看引擎如何处理</translation>
    </message>
    <message>
        <source>Running {name} again to call {label} …</source>
        <translation>正在把 {name} 重新运行到第 {label} 次调用…</translation>
    </message>
    <message>
        <source>Running …</source>
        <translation>正在运行…</translation>
    </message>
    <message>
        <source>Seed v</source>
        <translation>种子 v</translation>
    </message>
    <message>
        <source>Seed: a word, numbers, or an expression over the script's variables</source>
        <translation>种子：一个词、一些数，或者由脚本变量组成的表达式</translation>
    </message>
    <message>
        <source>Start at another tensor too</source>
        <translation>同时从另一个张量开始</translation>
    </message>
    <message>
        <source>The engine failed: {why}</source>
        <translation>引擎失败：{why}</translation>
    </message>
    <message>
        <source>The root's own value; the gradient of half its square</source>
        <translation>根自身的值；即它平方之半的梯度</translation>
    </message>
    <message>
        <source>The script itself is held at call {label}; what an experiment changes is put back.</source>
        <translation>脚本本身停在第 {label} 次调用处；实验所改变的都会恢复。</translation>
    </message>
    <message>
        <source>The script was not run again.</source>
        <translation>没有重新运行脚本。</translation>
    </message>
    <message>
        <source>The seed, element by element</source>
        <translation>逐个元素的种子</translation>
    </message>
    <message>
        <source>The seed: what the gradient starts with. Click to try another one.</source>
        <translation>种子：梯度的起点。单击可尝试另一个种子。</translation>
    </message>
    <message>
        <source>The snapshot has ended. Trying a seed runs the script again up to this call.</source>
        <translation>快照已结束。再尝试种子时会把脚本重新运行到这次调用。</translation>
    </message>
    <message>
        <source>The sum of all outputs; what tf.gradients(y, x) means</source>
        <translation>所有输出之和；也就是 tf.gradients(y, x) 的含义</translation>
    </message>
    <message>
        <source>The tensor itself</source>
        <translation>张量本身</translation>
    </message>
    <message>
        <source>There are no numbers on the clipboard.</source>
        <translation>剪贴板中没有数字。</translation>
    </message>
    <message>
        <source>There is no recording yet.</source>
        <translation>还没有记录。</translation>
    </message>
    <message>
        <source>This run is not the recorded one. {what}</source>
        <translation>这次运行与记录的不同。{what}</translation>
    </message>
    <message>
        <source>Try a seed that fits</source>
        <translation>尝试匹配的种子</translation>
    </message>
    <message>
        <source>Try another seed</source>
        <translation>尝试另一个种子</translation>
    </message>
    <message>
        <source>Try another seed here …</source>
        <translation>在这里尝试另一个种子…</translation>
    </message>
    <message>
        <source>Try another seed …</source>
        <translation>尝试另一个种子…</translation>
    </message>
    <message>
        <source>Try call {label}</source>
        <translation>尝试第 {label} 次调用</translation>
    </message>
    <message>
        <source>Try it</source>
        <translation>尝试</translation>
    </message>
    <message>
        <source>Try one output alone</source>
        <translation>只尝试一个输出</translation>
    </message>
    <message>
        <source>Try ones</source>
        <translation>尝试全 1</translation>
    </message>
    <message>
        <source>Try the earlier call</source>
        <translation>尝试较早的调用</translation>
    </message>
    <message>
        <source>Use {seed}</source>
        <translation>使用 {seed}</translation>
    </message>
    <message>
        <source>What a click does</source>
        <translation>单击的作用</translation>
    </message>
    <message>
        <source>Zeros</source>
        <translation>全 0</translation>
    </message>
    <message>
        <source>a scalar</source>
        <translation>标量</translation>
    </message>
    <message>
        <source>lets me type a number</source>
        <translation>可以输入数字</translation>
    </message>
    <message>
        <source>node of the graph</source>
        <translation>计算图的节点</translation>
    </message>
    <message>
        <source>ones, one_hot(0), [1, 0, 2], 2 * ones_like(out) …</source>
        <translation>ones、one_hot(0)、[1, 0, 2]、2 * ones_like(out)…</translation>
    </message>
    <message>
        <source>picks a column</source>
        <translation>选取一列</translation>
    </message>
    <message>
        <source>picks a row</source>
        <translation>选取一行</translation>
    </message>
    <message>
        <source>picks one element (one-hot)</source>
        <translation>选取一个元素（one-hot）</translation>
    </message>
    <message>
        <source>root {n}</source>
        <translation>根 {n}</translation>
    </message>
    <message>
        <source>seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>seed of {name}</source>
        <translation>{name} 的种子</translation>
    </message>
    <message>
        <source>shape {shape}</source>
        <translation>形状 {shape}</translation>
    </message>
    <message>
        <source>the call's own root</source>
        <translation>这次调用自己的根</translation>
    </message>
    <message>
        <source>the root</source>
        <translation>根</translation>
    </message>
    <message>
        <source>what-if {n} on call {label}</source>
        <translation>调用 {label} 的假设 {n}</translation>
    </message>
    <message>
        <source>{offer}: {what}</source>
        <translation>{offer}：{what}</translation>
    </message>
    <message>
        <source>&amp;Jacobian …</source>
        <translation>雅可比矩阵(&amp;J)…</translation>
    </message>
    <message>
        <source>.grad over the calls, as a chart</source>
        <translation>.grad 随各次调用的变化图</translation>
    </message>
    <message>
        <source>A seed of {n} numbers is too long to be written out; take ones or a single row.</source>
        <translation>含 {n} 个数的种子太长，无法逐个写出；请用全 1 或单独一行。</translation>
    </message>
    <message>
        <source>Added up they are {x}.</source>
        <translation>它们加起来是 {x}。</translation>
    </message>
    <message>
        <source>As if</source>
        <translation>假如</translation>
    </message>
    <message>
        <source>As if cleared here</source>
        <translation>假如在此清零</translation>
    </message>
    <message>
        <source>As it was</source>
        <translation>恢复实际情况</translation>
    </message>
    <message>
        <source>At most {n} rows can be asked for at once.</source>
        <translation>一次最多能要 {n} 行。</translation>
    </message>
    <message>
        <source>Brought</source>
        <translation>带来</translation>
    </message>
    <message>
        <source>Call</source>
        <translation>调用</translation>
    </message>
    <message>
        <source>Call {label} computed another gradient, apart by up to {x}: a hook changed it on the way, or the script drew other random numbers.</source>
        <translation>第 {label} 次调用算出的是另一个梯度，最多相差 {x}：途中有 hook 改了它，或脚本抽到了别的随机数。</translation>
    </message>
    <message>
        <source>Check by differences</source>
        <translation>用差分检验</translation>
    </message>
    <message>
        <source>Cleared before call {label}, it would be the same: nothing was there.</source>
        <translation>若在第 {label} 次调用前清零，结果不变：那里本来就没有值。</translation>
    </message>
    <message>
        <source>Cleared before call {label}, it would be {would} at the end instead of {was}.</source>
        <translation>若在第 {label} 次调用前清零，最后会是 {would}，而不是 {was}。</translation>
    </message>
    <message>
        <source>Cleared before call {label}, it would grow to {would} instead of {was}.</source>
        <translation>若在第 {label} 次调用前清零，它会累积到 {would}，而不是 {was}。</translation>
    </message>
    <message>
        <source>Cleared before call {label}, the optimizer would find {would} instead of {was}.</source>
        <translation>若在第 {label} 次调用前清零，优化器看到的会是 {would}，而不是 {was}。</translation>
    </message>
    <message>
        <source>Compute</source>
        <translation>计算</translation>
    </message>
    <message>
        <source>Computing …</source>
        <translation>正在计算…</translation>
    </message>
    <message>
        <source>Direction of the measurement</source>
        <translation>测量的方向</translation>
    </message>
    <message>
        <source>Element of the input</source>
        <translation>输入的元素</translation>
    </message>
    <message>
        <source>Element of the seed</source>
        <translation>种子的元素</translation>
    </message>
    <message>
        <source>History of .grad</source>
        <translation>.grad 的历史</translation>
    </message>
    <message>
        <source>Index in dimension {n}</source>
        <translation>第 {n} 维的下标</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>It is the gradient that call {label} computed, bit for bit.</source>
        <translation>它与第 {label} 次调用算出的梯度逐位相同。</translation>
    </message>
    <message>
        <source>It is the gradient that call {label} computed; the largest difference, {x}, is rounding.</source>
        <translation>它就是第 {label} 次调用算出的梯度；最大的差 {x} 是舍入误差。</translation>
    </message>
    <message>
        <source>Jacobian by this …</source>
        <translation>对此的雅可比矩阵…</translation>
    </message>
    <message>
        <source>Jacobian of call {label}</source>
        <translation>第 {label} 次调用的雅可比矩阵</translation>
    </message>
    <message>
        <source>Jacobian …</source>
        <translation>雅可比矩阵…</translation>
    </message>
    <message>
        <source>Looking at the tensors of the call …</source>
        <translation>正在查看这次调用的张量…</translation>
    </message>
    <message>
        <source>No tensor of the script requires a gradient at this call.</source>
        <translation>这次调用时脚本中没有需要梯度的张量。</translation>
    </message>
    <message>
        <source>Nothing came to {name} in {call}.</source>
        <translation>{call} 没有给 {name} 带来任何梯度。</translation>
    </message>
    <message>
        <source>Only a summary of this gradient was recorded, so its elements cannot be followed.</source>
        <translation>这个梯度只记录了摘要，无法追踪它的各个元素。</translation>
    </message>
    <message>
        <source>Only the blocks on the diagonal</source>
        <translation>只看对角线上的块</translation>
    </message>
    <message>
        <source>Only this row</source>
        <translation>只取这一行</translation>
    </message>
    <message>
        <source>Output of the node</source>
        <translation>节点的输出</translation>
    </message>
    <message>
        <source>Paths to this gradient</source>
        <translation>通向这个梯度的路径</translation>
    </message>
    <message>
        <source>Play the one-hot seeds one after another: each picks one row</source>
        <translation>依次播放各个 one-hot 种子：每个选出一行</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Rows are written like 0-63, 128; {text!r} is something else.</source>
        <translation>行要写成 0-63, 128 这样；{text!r} 不是。</translation>
    </message>
    <message>
        <source>Run the forward pass again in double precision, a little to either side, and divide the difference</source>
        <translation>用双精度在两侧稍偏处各重算一次前向，再用差除以步长</translation>
    </message>
    <message>
        <source>Running the forward pass again, a little to either side …</source>
        <translation>正在两侧稍偏处重算前向…</translation>
    </message>
    <message>
        <source>See all rows from which the seed of this call picks, and what it makes of them</source>
        <translation>查看这次调用的种子从哪些行中选取，以及它得到什么</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>逐行播放</translation>
    </message>
    <message>
        <source>The Jacobian was computed, but its numbers cannot be read.</source>
        <translation>雅可比矩阵已算出，但它的数值无法读取。</translation>
    </message>
    <message>
        <source>The Jacobian with its seed</source>
        <translation>雅可比矩阵及其种子</translation>
    </message>
    <message>
        <source>The call's seed</source>
        <translation>这次调用的种子</translation>
    </message>
    <message>
        <source>The recording is damaged; what cannot be read any more: call {labels}. Record the script again to get it whole.</source>
        <translation>记录已损坏，无法再读取的有：第 {labels} 次调用。请重新记录脚本以得到完整的记录。</translation>
    </message>
    <message>
        <source>The sum behind</source>
        <translation>梯度由哪些项相加</translation>
    </message>
    <message>
        <source>There are more paths than can be listed: those that meet on the way are shown from there on.</source>
        <translation>路径多得无法全部列出：途中汇合的路径从汇合处起显示。</translation>
    </message>
    <message>
        <source>Which rows are computed: 0-63, 128. Of a large root not all fit.</source>
        <translation>计算哪些行：0-63, 128。根很大时放不下全部行。</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>all blocks off the diagonal are zero: {input}[b] reaches only {root}[b]</source>
        <translation>对角线以外的块全为零：{input}[b] 只影响 {root}[b]</translation>
    </message>
    <message>
        <source>all rows</source>
        <translation>全部行</translation>
    </message>
    <message>
        <source>all zero: {root} does not depend on {input} here</source>
        <translation>全为零：{root} 在此不依赖 {input}</translation>
    </message>
    <message>
        <source>along a random direction</source>
        <translation>沿随机方向</translation>
    </message>
    <message>
        <source>along all ones</source>
        <translation>沿全 1 方向</translation>
    </message>
    <message>
        <source>along the element</source>
        <translation>沿该元素</translation>
    </message>
    <message>
        <source>begins at {name} with all that arrived there</source>
        <translation>从 {name} 开始，含到达那里的全部梯度</translation>
    </message>
    <message>
        <source>brought</source>
        <translation>带来</translation>
    </message>
    <message>
        <source>changed</source>
        <translation>被改</translation>
    </message>
    <message>
        <source>changed otherwise once</source>
        <translation>另被改动一次</translation>
    </message>
    <message>
        <source>changed otherwise {n} times</source>
        <translation>另被改动 {n} 次</translation>
    </message>
    <message>
        <source>cleared</source>
        <translation>清零</translation>
    </message>
    <message>
        <source>cleared once</source>
        <translation>清零一次</translation>
    </message>
    <message>
        <source>cleared {n} times</source>
        <translation>清零 {n} 次</translation>
    </message>
    <message>
        <source>damaged: call {labels}</source>
        <translation>已损坏：第 {labels} 次调用</translation>
    </message>
    <message>
        <source>from the seed of {name}</source>
        <translation>来自 {name} 的种子</translation>
    </message>
    <message>
        <source>if it had been cleared: {x}</source>
        <translation>假如清零过：{x}</translation>
    </message>
    <message>
        <source>measured {measured} · engine {engine} · difference {apart} (step {step}, {dtype})</source>
        <translation>测得 {measured} · 引擎 {engine} · 相差 {apart}（步长 {step}，{dtype}）</translation>
    </message>
    <message>
        <source>never cleared</source>
        <translation>从未清零</translation>
    </message>
    <message>
        <source>not kept</source>
        <translation>未保留</translation>
    </message>
    <message>
        <source>nothing, since the seed is zero.</source>
        <translation>什么也没有，因为种子是零。</translation>
    </message>
    <message>
        <source>output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>seed v</source>
        <translation>种子 v</translation>
    </message>
    <message>
        <source>seed {x}, {n} factors</source>
        <translation>种子 {x}，{n} 个因子</translation>
    </message>
    <message>
        <source>something that is not known (too large to be kept)</source>
        <translation>一个未知的值（太大，未保留）</translation>
    </message>
    <message>
        <source>step</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>the only row.</source>
        <translation>唯一的一行。</translation>
    </message>
    <message>
        <source>the row of {name}.</source>
        <translation>{name} 的那一行。</translation>
    </message>
    <message>
        <source>the sum of all rows.</source>
        <translation>所有行之和。</translation>
    </message>
    <message>
        <source>v at {name} =</source>
        <translation>{name} 处的 v =</translation>
    </message>
    <message>
        <source>vᵀJ, sample by sample</source>
        <translation>vᵀJ，逐个样本</translation>
    </message>
    <message>
        <source>vᵀJ, shape {shape}: {kind}</source>
        <translation>vᵀJ，形状 {shape}：{kind}</translation>
    </message>
    <message>
        <source>{begins}: {x}</source>
        <translation>{begins}：{x}</translation>
    </message>
    <message>
        <source>{done} of {total} rows</source>
        <translation>{total} 行中的 {done} 行</translation>
    </message>
    <message>
        <source>{name} got {terms} = {total} in {call}, along {n} paths.</source>
        <translation>{name} 在{call} 中沿 {n} 条路径得到 {terms} = {total}。</translation>
    </message>
    <message>
        <source>{name} got {total} in {call}, along one path.</source>
        <translation>{name} 在{call} 中沿一条路径得到 {total}。</translation>
    </message>
    <message>
        <source>{n} call brought something</source>
        <translation>{n} 次调用带来了梯度</translation>
    </message>
    <message>
        <source>{n} calls brought something</source>
        <translation>{n} 次调用带来了梯度</translation>
    </message>
    <message>
        <source>{n} element is nan or infinite</source>
        <translation>{n} 个元素是 nan 或无穷</translation>
    </message>
    <message>
        <source>{n} elements are nan or infinite</source>
        <translation>{n} 个元素是 nan 或无穷</translation>
    </message>
    <message>
        <source>{n} more path brings {x}.</source>
        <translation>还有 {n} 条路径带来 {x}。</translation>
    </message>
    <message>
        <source>{n} more paths bring {x} together.</source>
        <translation>还有 {n} 条路径共带来 {x}。</translation>
    </message>
    <message>
        <source>{n} optimizer step</source>
        <translation>优化器更新 {n} 次</translation>
    </message>
    <message>
        <source>{n} optimizer steps</source>
        <translation>优化器更新 {n} 次</translation>
    </message>
    <message>
        <source>{n} row, weighted.</source>
        <translation>{n} 行，带权。</translation>
    </message>
    <message>
        <source>{n} rows, weighted and added.</source>
        <translation>{n} 行加权相加。</translation>
    </message>
    <message>
        <source>{product}, and {n} times 1</source>
        <translation>{product}，另有 {n} 个 1</translation>
    </message>
    <message>
        <source>{rows} of {all} rows × {columns}</source>
        <translation>{all} 行中的 {rows} 行 × {columns}</translation>
    </message>
    <message>
        <source>{rows} × {columns}, a tensor of shape {shape}</source>
        <translation>{rows} × {columns}，即形状为 {shape} 的张量</translation>
    </message>
    <message>
        <source>{what} The rows that are not shown are not in it.</source>
        <translation>{what}其中不含未显示的行。</translation>
    </message>
    <message>
        <source>… {n} nodes …</source>
        <translation>… {n} 个节点 …</translation>
    </message>
    <message>
        <source>… {n:,} bytes left out …</source>
        <translation>… 省略了 {n:,} 字节 …</translation>
    </message>
    <message>
        <source>Show call {label}</source>
        <translation>查看调用 {label}</translation>
    </message>
    <message>
        <source>Only a summary of call {label} was kept: norms, no graph.</source>
        <translation>调用 {label} 只保留了摘要：有范数，没有图。</translation>
    </message>
    <message>
        <source>summary</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>root of a call without its graph: only a summary was kept</source>
        <translation>没有图的调用的根：只保留了摘要</translation>
    </message>
    <message>
        <source>left out</source>
        <translation>未记录</translation>
    </message>
    <message>
        <source>`gradviz record --calls {label}` keeps this call whole.</source>
        <translation>`gradviz record --calls {label}` 会完整保留这次调用。</translation>
    </message>
    <message>
        <source>dim {n}:</source>
        <translation>维 {n}：</translation>
    </message>
    <message>
        <source>The findings could not be computed. The recording itself is whole.</source>
        <translation>无法计算发现。录制文件本身是完整的。</translation>
    </message>
    <message>
        <source>Area</source>
        <translation>范围</translation>
    </message>
    <message>
        <source>The whole graph</source>
        <translation>整个图</translation>
    </message>
    <message>
        <source>What is seen</source>
        <translation>所见部分</translation>
    </message>
    <message>
        <source>The selection</source>
        <translation>选中部分</translation>
    </message>
    <message>
        <source>Puts the command on the clipboard that makes the same file, for a script or for CI</source>
        <translation>把生成同一文件的命令放到剪贴板，用于脚本或 CI</translation>
    </message>
    <message>
        <source>Puts this picture on the clipboard</source>
        <translation>把这张图片放到剪贴板</translation>
    </message>
    <message>
        <source>Copy the picture</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <source>did not run</source>
        <translation>没有运行</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>复制(&amp;C)</translation>
    </message>
    <message>
        <source>They are looked for when the script has ended.</source>
        <translation>脚本结束后再查找。</translation>
    </message>
    <message>
        <source>Ran&amp;ge of colours...</source>
        <translation>颜色范围(&amp;G)...</translation>
    </message>
    <message>
        <source>Range of colours</source>
        <translation>颜色范围</translation>
    </message>
    <message>
        <source>&amp;Fixed range</source>
        <translation>固定范围(&amp;F)</translation>
    </message>
    <message>
        <source>Palest at 10 to the power of</source>
        <translation>最浅处为 10 的几次方</translation>
    </message>
    <message>
        <source>Strongest at 10 to the power of</source>
        <translation>最深处为 10 的几次方</translation>
    </message>
    <message>
        <source>Colours tell log10 of a gradient's norm. With the same fixed range, pictures of other calls compare.</source>
        <translation>颜色表示梯度范数的 log10。使用同一个固定范围，就可以与其他调用的图片相比较。</translation>
    </message>
</context>
</TS>
